// Operations on uncompressed values, whose times are compared with those of frames; and kernels that keep the GPU
// busy and measure its clock.
#include "check.hpp"
#include "compressor/gpu/simt/kernel.cuh"
#include "compressor/gpu/simt/load.hpp"
#include "device_clock.hpp"

namespace {

using namespace taut;
using namespace taut::gpu;
using taut::cuda::BlockShape;

struct alignas(16) Four {
  float of[4];
};

struct AddJob {
  Four* a;
  const Four* b;
  std::size_t quads;
};

// Computes a += b, 16 bytes a thread: the cost of any sum of two arrays, including PyTorch's.
struct AddKernel {
  using Job = AddJob;
  struct Shared {};
  static constexpr BlockShape shape{256, 8};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const std::size_t i = std::size_t{simt.block()} * shape.threads + simt.thread();
    if (i >= job.quads) return;
    Four x = cuda::load_as<Four>(job.a + i);
    const Four y = cuda::load_as<Four>(job.b + i);
    for (unsigned k = 0; k < 4; ++k) x.of[k] += y.of[k];
    cuda::store_as(job.a + i, x);
  }
};

struct SpinJob {
  std::uint64_t nanoseconds;
  std::uint64_t* measured;  // cycles and nanoseconds that the first thread has taken
};

struct SpinKernel {
  using Job = SpinJob;
  struct Shared {};
  static constexpr BlockShape shape{128, 1};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const std::uint64_t from = nanoseconds(), first = cycles();
    std::uint64_t taken = 0;
    while (taken < job.nanoseconds) taken = nanoseconds() - from;
    if (simt.block() != 0 || simt.thread() != 0) return;
    job.measured[0] = cycles() - first;
    job.measured[1] = taken;
  }
};

const cudaDeviceProp& properties() {
  static const cudaDeviceProp device = [] {
    int current = 0;
    cudaDeviceProp found{};
    check(cudaGetDevice(&current));
    check(cudaGetDeviceProperties(&found, current));
    return found;
  }();
  return device;
}

std::uint64_t* measured() {
  static const Pinned memory(2 * sizeof(std::uint64_t));
  return reinterpret_cast<std::uint64_t*>(memory.at());
}

}  // namespace

namespace taut::gpu {

void spin(double milliseconds, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(2 * properties().multiProcessorCount);
  cuda::launch<SpinKernel>(blocks, {static_cast<std::uint64_t>(milliseconds * 1e6), measured()}, stream);
}

double sm_clock(cudaStream_t stream) {
  const double milliseconds = std::min(2.0, settings.spin_ms);
  cuda::launch<SpinKernel>(1, {static_cast<std::uint64_t>(milliseconds * 1e6), measured()}, stream);
  check(cudaStreamSynchronize(stream));
  const auto* const taken = measured();
  return taken[1] > 0 ? 1e3 * static_cast<double>(taken[0]) / static_cast<double>(taken[1]) : 0;
}

std::size_t cache_bytes() { return static_cast<std::size_t>(properties().l2CacheSize); }

}  // namespace taut::gpu

double copy_rate(std::size_t bytes, cudaStream_t stream) {
  static std::map<std::size_t, double> known;
  if (const auto found = known.find(bytes); found != known.end()) return found->second;
  const std::vector<float> x = make<float>(Pattern::walk, bytes / sizeof(float), 1);
  const int sets = sets_for(2 * bytes);
  const Buffers from(sets, x.data(), bytes), to(sets, x.data(), bytes);
  const Timing copy = timed(stream, bytes, [&](int i) {
    check(cudaMemcpyAsync(to.at(i), from.at(i), bytes, cudaMemcpyDeviceToDevice, stream));
    return 0;
  });
  const double copied = known[bytes] = static_cast<double>(bytes) / copy.median / 1e9;
  report("copy", bytes, 1, copy, 0);
  const AddJob add{nullptr, nullptr, bytes / sizeof(Four)};
  const auto blocks = static_cast<unsigned>((add.quads + AddKernel::shape.threads - 1) / AddKernel::shape.threads);
  report("add", bytes, 1, timed(stream, bytes, [&](int i) {
           cuda::launch<AddKernel>(blocks, {static_cast<Four*>(to.at(i)), static_cast<const Four*>(from.at(i)), add.quads},
                                   stream);
           return 0;
         }), copied);
  return copied;
}

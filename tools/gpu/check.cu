// check correctness|small|kernels: the checks that check.sh runs on a GPU. Prints one JSON object a line.
// check values PATTERN COUNT: prints the float32 values that `kernels` uses, in binary, for peers.py.
#include "check.hpp"

namespace {

using namespace taut;
using namespace taut::gpu;

// Encodes, decodes, adds and accumulates one pattern. Returns the number of differences from the CPU.
template <class T>
int compare(Pattern pattern, std::size_t n, int predictor, double bound, cudaStream_t stream) {
  const int type = static_cast<int>(dtype_of<T>);
  const TAUT_Cuda_coding coding{bound, 0, predictor};
  const auto codec = cpu_codec(bound, predictor);
  const std::vector<T> x = make<T>(pattern, n, 1), y = make<T>(Pattern::mixed, n, 2);
  const auto fx = cpu_encode(*codec, x), fy = cpu_encode(*codec, y);
  std::vector<std::byte> sum(codec->max_bytes(dtype_of<T>, n, 2)), total(sum.size());
  const ConstBytes both[] = {fx, fy};
  sum.resize(codec->arithmetic()->sum(both, sum).bytes);
  total.resize(codec->arithmetic()->accumulate(fx, {y.data(), n, dtype_of<T>}, total).bytes);
  std::vector<T> decoded(n);
  codec->decode(sum, {decoded.data(), n, dtype_of<T>});

  const Device dx(x.data(), n * sizeof(T)), dy(y.data(), n * sizeof(T)), to(n * sizeof(T));
  const Device a(codec->max_bytes(dtype_of<T>, n, 1)), b(a.bytes()), out(codec->max_bytes(dtype_of<T>, n, 2));
  Result r;
  int wrong = 0;
  const auto same = [&](const Device& device, const void* bytes, std::size_t size) {
    check(cudaStreamSynchronize(stream));
    wrong += r.at->status != 0 || std::memcmp(device.read(size).data(), bytes, size) != 0;
  };
  wrong += TAUT_Encode_cuda(dx.at(), n, type, &coding, a.at(), a.bytes(), r.at, stream) != 0;
  same(a, fx.data(), fx.size());
  wrong += TAUT_Encode_cuda(dy.at(), n, type, &coding, b.at(), b.bytes(), r.at, stream) != 0;
  same(b, fy.data(), fy.size());
  const void* const frames[] = {a.at(), b.at()};
  const std::size_t bytes[] = {fx.size(), fy.size()};
  wrong += TAUT_Frame_add_cuda(frames, bytes, 2, n, type, out.at(), out.bytes(), r.at, stream) != 0;
  same(out, sum.data(), sum.size());
  wrong += TAUT_Decode_cuda(out.at(), sum.size(), to.at(), n, type, r.at, stream) != 0;
  same(to, decoded.data(), n * sizeof(T));
  wrong += TAUT_Frame_accumulate_cuda(a.at(), fx.size(), dy.at(), n, type, &coding, out.at(), out.bytes(), r.at, stream) != 0;
  same(out, total.data(), total.size());
  return wrong;
}

template <class T>
bool matrix(const char* name, const std::vector<std::size_t>& sizes, cudaStream_t stream) {
  int cases = 0, wrong = 0;
  for (const Pattern pattern : all_patterns) {
    for (int predictor = 0; predictor < 4; ++predictor) {
      for (const std::size_t n : sizes) {
        const int found = compare<T>(pattern, n, predictor, sizeof(T) == 2 ? 1e-2 : 1e-4, stream);
        if (found > 0 && wrong < 10)
          std::fprintf(stderr, "%s %s n %zu predictor %d: %d differences\n", name, name_of(pattern), n, predictor, found);
        wrong += found;
        ++cases;
      }
    }
  }
  std::printf("{\"check\": \"bytes\", \"type\": \"%s\", \"cases\": %d, \"differences\": %d, \"ok\": %s}\n", name, cases, wrong,
              wrong == 0 ? "true" : "false");
  return wrong == 0;
}

// Repeats launches with look-back: see stress().
void look_back_stress(int launches) {
  const TAUT_Cuda_coding coding{1e-3, 0, 1};
  stress("look_back", *cpu_codec(1e-3, 1), Pattern::mixed, launches,
         [&](const Device& x, std::size_t n, const Device& frame, const Result& r, cudaStream_t stream) {
           return TAUT_Encode_cuda(x.at(), n, 1, &coding, frame.at(), frame.bytes(), r.at, stream);
         });
}

// Captures slots of two encodings and their sum in a graph, and replays the graph on changing values.
void graph() {
  constexpr std::size_t n = 1 << 18, chunks = n / 4096, slot = 4096 * 4 + 12;
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const Device values(n * 4), words(chunks * 4), slots(chunks * slot);
  const auto codec = cpu_codec(1e-3, 1);
  const Device frame(codec->max_bytes(DType::f32, n, 1));
  const TAUT_Cuda_coding coding{1e-3, 0, 1};
  Result r;
  TAUT_Cuda_reserve(n, 1, stream);
  check(cudaStreamSynchronize(stream));
  const auto calls = [&] {
    const auto* const w = static_cast<const std::uint32_t*>(words.at());
    const void* const s = slots.at();
    int status = TAUT_Encode_slots_cuda(values.at(), n, 1, &coding, static_cast<std::uint32_t*>(words.at()), slots.at(), slot, r.at, stream);
    status += TAUT_Slots_add_cuda(&w, &s, slot, 1, n, 1, &coding, frame.at(), frame.bytes(), r.at, stream);
    return status;
  };
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  const int status = calls();
  cudaGraph_t captured;
  check(cudaStreamEndCapture(stream, &captured));
  cudaGraphExec_t runnable;
  check(cudaGraphInstantiate(&runnable, captured, 0));
  int wrong = status != 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> x = make<float>(Pattern::walk, n, seed);
    values.write(x.data(), n * 4);
    check(cudaGraphLaunch(runnable, stream));
    check(cudaStreamSynchronize(stream));
    const auto cpu = cpu_encode(*codec, x);
    wrong += r.at->status != 0 || frame.read(cpu.size()) != cpu;
  }
  std::printf("{\"check\": \"graph\", \"differences\": %d, \"ok\": %s}\n", wrong, wrong == 0 ? "true" : "false");
}

void bench_size(std::size_t n, const char* abs, double copied, cudaStream_t stream) {
  const double bound = std::strtod(abs, nullptr);
  const std::size_t bytes = n * 4;
  // Two sets of buffers alternate; each is larger than the cache if n is large enough.
  const std::vector<float> x = make<float>(Pattern::walk, n, 1);
  const Device v0(x.data(), bytes), v1(x.data(), bytes), to(bytes);
  const auto codec = cpu_codec(bound, 1);
  const std::size_t room = codec->max_bytes(DType::f32, n, 1);
  const Device f0(room), f1(room), sum(codec->max_bytes(DType::f32, n, 2));
  const TAUT_Cuda_coding coding{bound, 0, 1};
  Result r;
  TAUT_Cuda_reserve(n, 1, stream);
  const auto of = [abs](const char* what) { return what + std::string(" walk abs:") + abs; };
  const Timing encode = timed(stream, [&](int i) {
    TAUT_Encode_cuda((i % 2 == 0 ? v0 : v1).at(), n, 1, &coding, (i % 2 == 0 ? f0 : f1).at(), room, r.at, stream);
  });
  const double ratio = static_cast<double>(bytes) / static_cast<double>(r.at->bytes);
  report(of("encode"), bytes, ratio, encode, copied);
  report(of("decode"), bytes, ratio, timed(stream, [&](int i) {
           TAUT_Decode_cuda((i % 2 == 0 ? f0 : f1).at(), room, to.at(), n, 1, r.at, stream);
         }), copied);
  report(of("decode_add"), bytes, ratio, timed(stream, [&](int i) {
           TAUT_Decode_add_cuda((i % 2 == 0 ? f0 : f1).at(), room, to.at(), n, 1, r.at, stream);
         }), copied);
  const void* const frames[] = {f0.at(), f1.at()};
  const std::size_t rooms[] = {room, room};
  report(of("frame_add"), bytes, ratio, timed(stream, [&](int) {
           TAUT_Frame_add_cuda(frames, rooms, 2, n, 1, sum.at(), sum.bytes(), r.at, stream);
         }), copied);
  if (r.at->status != 0) std::printf("{\"bench\": \"failed\", \"ok\": false, \"status\": %u}\n", r.at->status);
}

int write_values(const std::string& pattern, std::size_t count) {
  for (const Pattern known : all_patterns) {
    if (pattern != name_of(known)) continue;
    const std::vector<float> x = make<float>(known, count, 1);
    return std::fwrite(x.data(), sizeof x[0], count, stdout) == count ? 0 : 1;
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "values" && argc == 4) return write_values(argv[2], std::strtoull(argv[3], nullptr, 10));
  const char* why = "";
  if (TAUT_Cuda_available(&why) == 0) {
    std::printf("{\"check\": \"device\", \"ok\": false, \"error\": \"%s\"}\n", why);
    return 1;
  }
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0));
  std::printf("{\"device\": \"%s\", \"multiprocessors\": %d}\n", device.name, device.multiProcessorCount);
  if (what == "small") {
    const bool planes = matrix<float>("f32", {9001}, stream) && matrix<double>("f64", {5000}, stream) && lagged_small(stream);
    return planes && lossless_small(stream) && rate_small(stream) ? 0 : 1;
  } else if (what == "correctness") {
    const std::vector<std::size_t> sizes{0, 1, 31, 4095, 4096, 4097, 1000003};
    matrix<float>("f32", sizes, stream);
    matrix<double>("f64", {1, 4097, 100003}, stream);
    matrix<f16>("f16", {1, 4097, 100003}, stream);
    matrix<bf16>("bf16", {1, 4097, 100003}, stream);
    look_back_stress(2000);
    lagged_correctness(stream);
    lossless_correctness(stream);
    rate_correctness(stream);
    graph();
  } else if (what == "kernels") {
    for (const std::size_t n : {std::size_t{1} << 14, std::size_t{1} << 18, std::size_t{1} << 22, std::size_t{1} << 26, std::size_t{1} << 28}) {
      const double copied = plain_kernels(n, stream);
      for (const char* const abs : {"1e-1", "1e-2", "1e-4"}) bench_size(n, abs, copied, stream);
    }
    lagged_kernels(stream);
    lossless_kernels(stream);
    rate_kernels(stream);
  } else {
    std::fprintf(stderr, "check correctness|small|kernels, check values PATTERN COUNT\n");
    return 2;
  }
  return 0;
}

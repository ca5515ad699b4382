// Declarations that the checks share: launches under stress, sizes, and the parts that other files have.
#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "../../tests/gpu/kernels/patterns.hpp"
#include "timing.hpp"

// plain.cu: returns the GB/s of values copied on the device, measured and reported once for each size,
// together with a += b.
double copy_rate(std::size_t bytes, cudaStream_t stream);

// bench_planes.cu
void planes_kernels(cudaStream_t stream);
void planes_profile(cudaStream_t stream);
// check_lagged.cu, check_lossless.cu, check_rate.cu
bool lagged_small(cudaStream_t stream);
void lagged_correctness(cudaStream_t stream);
void lagged_kernels(cudaStream_t stream);
bool lossless_small(cudaStream_t stream);
void lossless_correctness(cudaStream_t stream);
void lossless_kernels(cudaStream_t stream);
bool rate_small(cudaStream_t stream);
void rate_correctness(cudaStream_t stream);
void rate_kernels(cudaStream_t stream);

namespace taut::gpu {

// Numbers of values of the benchmarks: 64 KiB to 1 GiB of float32.
inline std::vector<std::size_t> bench_sizes() {
  std::vector<std::size_t> sizes;
  for (const unsigned bits : {14, 18, 20, 22, 24, 26, 28})
    if (std::size_t{1} << bits <= settings.most_values) sizes.push_back(std::size_t{1} << bits);
  return sizes;
}

// Returns the sizes, in values, that the settings allow.
inline std::vector<std::size_t> within(std::vector<std::size_t> sizes) {
  std::erase_if(sizes, [](std::size_t n) { return n > settings.most_values; });
  return sizes;
}

// Number of launches of a stress test: 2000, fewer in a rehearsal.
inline int stress_launches() { return settings.times * 100; }

// Encodes values of random sizes by launch(values, count, frame, result, stream) while another stream keeps
// the memory busy. Each encoding must give the CPU's frame.
template <class Launch>
void stress(const char* name, const Codec& codec, Pattern pattern, int launches, const Launch& launch) {
  cudaStream_t stream, busy;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking));
  const std::vector<float> x = make<float>(pattern, std::min<std::size_t>(settings.most_values, 3000000), 5);
  const std::size_t busy_bytes = std::min(settings.most_values, std::size_t{1} << 28);
  const Device dx(x.data(), x.size() * 4), hog(busy_bytes), hog_to(busy_bytes);
  const Device frame(codec.max_bytes(DType::f32, x.size()));
  std::mt19937_64 random(1);
  Result r;
  int wrong = 0;
  std::vector<std::size_t> sizes;
  std::vector<std::vector<std::byte>> expected;
  for (int k = 0; k < 20; ++k) {
    sizes.push_back(1 + random() % x.size());
    expected.push_back(
        cpu_encode(codec, std::vector<float>(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(sizes[k]))));
  }
  for (int i = 0; i < launches; ++i) {
    if (i % 8 == 0)
      check(cudaMemcpyAsync(hog_to.at(), hog.at(), hog.bytes(), cudaMemcpyDeviceToDevice, busy));
    const std::size_t k = random() % sizes.size();
    wrong += launch(dx, sizes[k], frame, r, stream) != 0;
    check(cudaStreamSynchronize(stream));
    wrong += r.at->status != 0 || r.at->bytes != expected[k].size() ||
             frame.read(expected[k].size()) != expected[k];
  }
  std::printf("{\"check\": \"%s\", \"launches\": %d, \"differences\": %d, \"ok\": %s}\n", name, launches,
              wrong, wrong == 0 ? "true" : "false");
}

}  // namespace taut::gpu

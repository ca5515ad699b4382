// Common parts of the checks: launches under stress, and times.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "../../tests/gpu/kernels/patterns.hpp"
#include "device.hpp"

// plain.cu: returns the GB/s of values copied on the device.
double plain_kernels(std::size_t n, cudaStream_t stream);

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

// Encodes values of random sizes by launch(values, count, frame, result, stream) while another stream keeps
// the memory busy. Each encoding must give the CPU's frame.
template <class Launch>
void stress(const char* name, const Codec& codec, Pattern pattern, int launches, const Launch& launch) {
  cudaStream_t stream, busy;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking));
  const std::vector<float> x = make<float>(pattern, 3000000, 5);
  const Device dx(x.data(), x.size() * 4), hog(std::size_t{256} << 20), hog_to(std::size_t{256} << 20);
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

// Seconds of the fastest run, and the median of `times` runs.
struct Timing {
  double best, median;
};
template <class Action>
Timing timed(cudaStream_t stream, const Action& action, int times = 20) {
  cudaEvent_t from, to;
  check(cudaEventCreate(&from));
  check(cudaEventCreate(&to));
  std::vector<double> seconds;
  for (int i = 0; i < times + 2; ++i) {
    check(cudaEventRecord(from, stream));
    action(i);
    check(cudaEventRecord(to, stream));
    check(cudaEventSynchronize(to));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, from, to));
    if (i >= 2) seconds.push_back(ms * 1e-3);
  }
  std::sort(seconds.begin(), seconds.end());
  return {seconds.front(), seconds[seconds.size() / 2]};
}

inline void report(const std::string& what, std::size_t bytes, double ratio, const Timing& t, double copy) {
  const double rate = static_cast<double>(bytes) / t.median / 1e9;
  std::printf(
      "{\"bench\": \"%s\", \"bytes\": %zu, \"ratio\": %.2f, \"median_us\": %.2f, \"best_us\": %.2f, "
      "\"GB/s\": %.1f, \"of_copy\": %.3f}\n",
      what.c_str(), bytes, ratio, t.median * 1e6, t.best * 1e6, rate, copy > 0 ? rate / copy : 1.0);
}

}  // namespace taut::gpu

// A frame at a rate there and back: the kernels write the CPU's bytes, and decode the CPU's values.
#pragma once

#include <gtest/gtest.h>

#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/rate_codec.hpp"
#include "gpu/kernels/rate_cpu.hpp"

namespace taut {

template <class T>
void there_and_back(RateGpuCodec<T>& gpu, const std::vector<T>& x, double rate, const Dims& dims = {}) {
  const auto cpu = rate_cpu_frame(x, rate, dims), frame = gpu.encode(x, rate, dims);
  ASSERT_EQ(gpu.result().status, 0u);
  ASSERT_EQ(frame.size(), cpu.size());
  const auto at = std::mismatch(frame.begin(), frame.end(), cpu.begin()).first - frame.begin();
  ASSERT_EQ(static_cast<std::size_t>(at), frame.size()) << "first difference at byte " << at;
  std::vector<T> expected(x.size()), y(x.size());
  ASSERT_EQ(rate_cpu_codec(rate)->decode(cpu, {expected.data(), x.size(), dtype_of<T>}), Status::ok);
  ASSERT_EQ(gpu.decode(cpu, y, dims), 0u);
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(std::memcmp(&y[i], &expected[i], sizeof(T)), 0) << i << ": " << y[i] << " for " << expected[i];
}

}  // namespace taut

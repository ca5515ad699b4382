// Clocks that kernels read. Where the shim runs the kernels, a cycle takes a nanosecond.
#pragma once

#include <cstdint>

#include "compressor/gpu/simt/simt.hpp"

#if !defined(__CUDACC__)
#include <chrono>
#endif

namespace taut::gpu {

#if defined(__CUDACC__)
TAUT_DEVICE std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)::"memory");
  return now;
}
TAUT_DEVICE std::uint64_t cycles() { return static_cast<std::uint64_t>(clock64()); }
#else
inline std::uint64_t nanoseconds() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
inline std::uint64_t cycles() { return nanoseconds(); }
#endif

}  // namespace taut::gpu

// The vocabulary that kernels are written in. CUDA gives it here; tests/cuda/shim.hpp gives the same on a
// CPU, so that the very text of the kernels is tested where there is no GPU. A kernel is a function template
// on it:
//
//   thread(), block()             of this thread in its block, of the block in the grid
//   ballot(b), shuffle(v, lane), shuffle_up(v, by), greatest(v), either(v)
//                                 of the 32 lanes of a warp, all of which take part; either: their bitwise or
//   barrier(), barrier_any(b)     of all threads of the block
//   sync_warp()                   orders what lanes of a warp wrote to shared memory
//   add(p, v), raise(p, v)        atomic: *p += v, *p = max(*p, v); return what was there
//   acquire(p), release(p, v)     a 64-bit word that blocks hand results over with
//   fence()                       what this thread wrote is seen, by the host too, before what it writes next
//   pause()                       in a loop that waits for another block
//   leading_zeros(v), population(v)
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define TAUT_DEVICE __device__ __forceinline__
#else
#define TAUT_DEVICE inline
#endif

namespace taut::planes::cuda {

inline constexpr unsigned warp_lanes = 32;
inline constexpr std::uint32_t all_lanes = 0xFFFFFFFF;

#if defined(__CUDACC__)
struct CudaThread {
  __device__ static unsigned thread() { return threadIdx.x; }
  __device__ static unsigned block() { return blockIdx.x; }
  __device__ static std::uint32_t ballot(bool b) { return __ballot_sync(all_lanes, b); }
  template <class V>
  __device__ static V shuffle(V v, unsigned lane) {
    return __shfl_sync(all_lanes, v, static_cast<int>(lane));
  }
  template <class V>
  __device__ static V shuffle_up(V v, unsigned by) {
    return __shfl_up_sync(all_lanes, v, by);
  }
  __device__ static std::uint32_t greatest(std::uint32_t v) { return __reduce_max_sync(all_lanes, v); }
  __device__ static std::uint32_t either(std::uint32_t v) { return __reduce_or_sync(all_lanes, v); }
  __device__ static void barrier() { __syncthreads(); }
  __device__ static bool barrier_any(bool b) { return __syncthreads_or(b) != 0; }
  __device__ static void sync_warp() { __syncwarp(); }
  __device__ static std::uint32_t add(std::uint32_t* p, std::uint32_t v) { return atomicAdd(p, v); }
  __device__ static std::uint32_t raise(std::uint32_t* p, std::uint32_t v) { return atomicMax(p, v); }
  __device__ static std::uint64_t acquire(const std::uint64_t* p) {
    std::uint64_t v;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
  }
  __device__ static void release(std::uint64_t* p, std::uint64_t v) {
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
  }
  __device__ static void fence() { __threadfence_system(); }
  __device__ static void pause() {}
  __device__ static unsigned leading_zeros(std::uint32_t v) {
    return static_cast<unsigned>(__clz(static_cast<int>(v)));
  }
  __device__ static unsigned leading_zeros(std::uint64_t v) {
    return static_cast<unsigned>(__clzll(static_cast<long long>(v)));
  }
  __device__ static unsigned population(std::uint32_t v) { return static_cast<unsigned>(__popc(v)); }
};
#endif

}  // namespace taut::planes::cuda

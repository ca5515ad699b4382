// A thread of an AMD GPU: the operations of simt.hpp by HIP. Those of a warp are those of wavefront.hpp.
// No AMD GPU has run this text: it is compiled (tests/gpu/kernels/hipcc_test.py), and the shim of the tests
// runs the operations of wavefront.hpp.
#pragma once

#include <cstring>

#include "compressor/gpu/simt/wavefront.hpp"

namespace taut::cuda {

struct HipThread : BitOperations {
  __device__ static unsigned thread() {
    const unsigned i = threadIdx.x;
    __builtin_assume(i < block_threads_limit);
    return i;
  }
  __device__ static unsigned block() { return blockIdx.x; }

  // The operations of the hardware, of which wavefront.hpp makes those of a warp.
  __device__ static unsigned lane() { return thread() % static_cast<unsigned>(warpSize); }
  __device__ static std::uint64_t vote(bool b) { return __ballot(b); }
  __device__ static std::uint32_t fetch(std::uint32_t v, unsigned lane) {
    return static_cast<std::uint32_t>(
        __builtin_amdgcn_ds_bpermute(static_cast<int>(4 * lane), static_cast<int>(v)));
  }
  __device__ static std::uint64_t fetch(std::uint64_t v, unsigned lane) {
    return fetch(static_cast<std::uint32_t>(v), lane) |
           std::uint64_t{fetch(static_cast<std::uint32_t>(v >> 32), lane)} << 32;
  }
  template <class V>
  __device__ static V fetch(V v, unsigned lane) {
    using Word = std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t>;
    Word word = 0;
    __builtin_memcpy(&word, &v, sizeof v);
    word = fetch(word, lane);
    __builtin_memcpy(&v, &word, sizeof v);
    return v;
  }
  __device__ static std::uint32_t select_bytes(std::uint32_t low, std::uint32_t high,
                                               std::uint32_t selector) {
    return __builtin_amdgcn_perm(high, low, selector);
  }

  __device__ static std::uint32_t ballot(bool b) { return wavefront::ballot(HipThread{}, b); }
  template <class V>
  __device__ static V shuffle(V v, unsigned lane) {
    return wavefront::shuffle(HipThread{}, v, lane);
  }
  template <class V>
  __device__ static V shuffle_up(V v, unsigned by) {
    return wavefront::shuffle_up(HipThread{}, v, by);
  }
  __device__ static std::uint32_t reduce_max(std::uint32_t v) {
    return wavefront::reduce(HipThread{}, v, wavefront::Max{});
  }
  __device__ static std::uint32_t reduce_or(std::uint32_t v) {
    return wavefront::reduce(HipThread{}, v, wavefront::BitOr{});
  }
  template <class V>
  __device__ static V reduce_add(V v) {
    return wavefront::reduce(HipThread{}, v, wavefront::Sum{});
  }
  template <class V>
  __device__ static V inclusive_sum(V v) {
    return wavefront::inclusive_sum(HipThread{}, v);
  }
  __device__ static std::uint32_t permute_bytes(std::uint32_t low, std::uint32_t high,
                                                std::uint32_t selector) {
    return wavefront::permute_bytes(HipThread{}, low, high, selector);
  }

  // Lanes of a wavefront run together, and its accesses to shared memory are in order: only the compiler must
  // keep their order.
  __device__ static void sync_warp() {
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
  }
  __device__ static void barrier() { __syncthreads(); }
  __device__ static bool barrier_any(bool b) { return __syncthreads_or(b) != 0; }
  __device__ static std::uint32_t atomic_add(std::uint32_t* p, std::uint32_t v) { return atomicAdd(p, v); }
  __device__ static std::uint32_t atomic_max(std::uint32_t* p, std::uint32_t v) { return atomicMax(p, v); }
  template <class V>
  __device__ static V poll(const V* p) {
    return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
  __device__ static void publish(std::uint64_t* p, std::uint64_t v) {
    __hip_atomic_store(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
  __device__ static void signal_host(std::uint32_t* p) {
    __threadfence_system();
    __hip_atomic_store(p, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  }
  __device__ static void fence_blocks() { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent"); }
  // Leaves the issue slots of a compute unit to the wavefronts that are waited for.
  __device__ static void pause() { __builtin_amdgcn_s_sleep(1); }

  // There is no instruction that loads into the L2 cache only. No register holds the number of compute units,
  // which only prefetching uses; with this number no block is found whose record could be prefetched.
  __device__ static void prefetch(const void*) {}
  __device__ static unsigned multiprocessors() { return 1u << 24; }

  __device__ static std::uint32_t bit_select(std::uint32_t mask, std::uint32_t a, std::uint32_t b) {
    return (a & mask) | (b & ~mask);
  }
  template <class V>
  __device__ static const V* global(const V* p) {
    return p;
  }
  template <class V>
  __device__ static void keep_in_memory(V& v) {
    asm volatile("" ::"v"(&v) : "memory");
  }
};

}  // namespace taut::cuda

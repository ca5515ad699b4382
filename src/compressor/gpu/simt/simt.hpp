// The vocabulary of the kernels: what a GPU's thread can do. CudaThread implements it with CUDA, HipThread
// (hip_thread.hpp) with HIP; tests/gpu/kernels/shim.hpp implements it on a CPU, so that tests run the
// kernels' own source text without a GPU. A kernel is a function template on a type `Simt` with these
// members:
//
//   thread(), block()             index of this thread in its block, index of the block in the grid
//   ballot(b), shuffle(v, lane), shuffle_up(v, by), reduce_max(v), reduce_or(v), reduce_add(v),
//   inclusive_sum(v)              over the 32 lanes of a warp, all of which call; inclusive_sum: over the
//                                 lanes up to this one. v is a number of 32 or 64 bits
//   barrier(), barrier_any(b)     over all threads of the block
//   sync_warp()                   orders the writes of a warp's lanes to shared memory
//   atomic_add(p, v), atomic_max(p, v)
//                                 return the previous value
//   poll(p), publish(p, v)        relaxed load and store of a word that all blocks share, at the scope of the
//                                 GPU: the word is read and written as a whole; no other access is ordered
//   fence_blocks()                orders all earlier accesses of this thread before all its later ones, for
//                                 other blocks; earlier accesses include those of other threads that this
//                                 thread has observed
//   signal_host(p)                sets *p to 1, a word that the host polls, after all accesses that
//                                 fence_blocks() would order
//   pause()                       called in a loop that waits for another block
//   prefetch(p)                   starts to load the 128 bytes around p, memory of the GPU, into its L2 cache
//   multiprocessors()             upper bound of the number of multiprocessors of the GPU
//   leading_zeros(v), popcount(v), reverse_bits(v)
//   permute_bytes(low, high, selector)
//                                 four of eight bytes, one for each of the four lowest base-16 digits of the
//                                 selector; digit 8 + i: the sign of byte i, eight times
//   bit_select(mask, a, b)        bits of a where the mask's bits are 1, else bits of b
//   global(p)                     p, which is known to point to global memory, not to shared memory
//   keep_in_memory(v)             makes the compiler store the thread's variable v, so that it takes no
//                                 registers from one barrier to the next
//
// TAUT_TABLE declares a constant array that kernels index at run time. A static constant of a function will
// not do: nvcc 13.0 does not initialise one in a template. TAUT_ROLLED marks loops that run only a few
// times: unrolled they would take more instructions. An array that such a loop indexes is in local memory
// instead of registers. TAUT_UNROLLED marks loops over an array in registers, which the compiler would
// otherwise not unroll; TAUT_UNROLLED_BY(n) unrolls n iterations, a constant.
#pragma once

#include <cstdint>

#if defined(__CUDACC__) || defined(__HIP__)
#define TAUT_DEVICE __device__ __forceinline__
#define TAUT_TABLE static __device__ constexpr
#define TAUT_ROLLED _Pragma("unroll 1")
#define TAUT_UNROLLED _Pragma("unroll")
#define TAUT_UNROLLED_BY(n) _Pragma(TAUT_TEXT(unroll n))
#define TAUT_TEXT(text) #text
#else
#define TAUT_DEVICE inline
#define TAUT_TABLE inline constexpr
#define TAUT_ROLLED
#define TAUT_UNROLLED
#define TAUT_UNROLLED_BY(n)
#endif

namespace taut::cuda {

inline constexpr unsigned warp_lanes = 32;  // on every GPU: wavefront.hpp
inline constexpr std::uint32_t all_lanes = 0xFFFFFFFF;
inline constexpr unsigned block_threads_limit = 512;  // greatest number of threads in a block of any kernel

// Launch shape of a kernel: threads of a block, and the number of its blocks that a multiprocessor must be
// able to hold. The second number limits the registers of a thread.
struct BlockShape {
  unsigned threads, on_multiprocessor;
};

#if defined(__CUDACC__) || defined(__HIP__)
// Operations on the bits of a word, which CUDA and HIP name alike.
struct BitOperations {
  __device__ static unsigned leading_zeros(std::uint32_t v) {
    return static_cast<unsigned>(__clz(static_cast<int>(v)));
  }
  __device__ static unsigned leading_zeros(std::uint64_t v) {
    return static_cast<unsigned>(__clzll(static_cast<long long>(v)));
  }
  __device__ static unsigned popcount(std::uint32_t v) { return static_cast<unsigned>(__popc(v)); }
  __device__ static unsigned popcount(std::uint64_t v) { return static_cast<unsigned>(__popcll(v)); }
  __device__ static std::uint32_t reverse_bits(std::uint32_t v) { return __brev(v); }
  __device__ static std::uint64_t reverse_bits(std::uint64_t v) { return __brevll(v); }
};
#endif

#if defined(__CUDACC__)
struct CudaThread : BitOperations {
  __device__ static unsigned thread() {
    __builtin_assume(threadIdx.x < block_threads_limit);
    return threadIdx.x;
  }
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
  __device__ static std::uint32_t reduce_max(std::uint32_t v) { return __reduce_max_sync(all_lanes, v); }
  __device__ static std::uint32_t reduce_or(std::uint32_t v) { return __reduce_or_sync(all_lanes, v); }
  __device__ static std::uint32_t reduce_add(std::uint32_t v) { return __reduce_add_sync(all_lanes, v); }
  __device__ static std::uint64_t reduce_add(std::uint64_t v) {
    for (unsigned by = 1; by < warp_lanes; by *= 2) v += __shfl_xor_sync(all_lanes, v, static_cast<int>(by));
    return v;
  }
  // The predicate of a shuffle says whether the source lane exists.
  __device__ static std::uint32_t inclusive_sum(std::uint32_t v) {
    for (unsigned by = 1; by < warp_lanes; by *= 2)
      asm volatile(
          "{ .reg .pred there; .reg .u32 other;\n"
          "  shfl.sync.up.b32 other|there, %0, %1, 0, 0xFFFFFFFF;\n"
          "  @there add.u32 %0, %0, other; }"
          : "+r"(v)
          : "r"(by));
    return v;
  }
  __device__ static std::uint64_t inclusive_sum(std::uint64_t v) {
    for (unsigned by = 1; by < warp_lanes; by *= 2) {
      const std::uint64_t other = shuffle_up(v, by);
      v += thread() % warp_lanes >= by ? other : 0;
    }
    return v;
  }
  __device__ static void barrier() { __syncthreads(); }
  __device__ static bool barrier_any(bool b) { return __syncthreads_or(b) != 0; }
  __device__ static void sync_warp() { __syncwarp(); }
  __device__ static std::uint32_t atomic_add(std::uint32_t* p, std::uint32_t v) { return atomicAdd(p, v); }
  __device__ static std::uint32_t atomic_max(std::uint32_t* p, std::uint32_t v) { return atomicMax(p, v); }
  __device__ static std::uint64_t poll(const std::uint64_t* p) {
    std::uint64_t v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
  }
  __device__ static std::uint32_t poll(const std::uint32_t* p) {
    std::uint32_t v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
  }
  __device__ static void publish(std::uint64_t* p, std::uint64_t v) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
  }
  __device__ static void signal_host(std::uint32_t* p) {
    __threadfence_system();
    asm volatile("st.relaxed.sys.u32 [%0], 1;" ::"l"(p) : "memory");
  }
  __device__ static void fence_blocks() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
  __device__ static void pause() {}
  __device__ static void prefetch(const void* p) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(p)));
  }
  __device__ static unsigned multiprocessors() {
    unsigned n;
    asm("mov.u32 %0, %%nsmid;" : "=r"(n));
    return n;
  }
  __device__ static std::uint32_t permute_bytes(std::uint32_t low, std::uint32_t high,
                                                std::uint32_t selector) {
    std::uint32_t bytes;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(low), "r"(high), "r"(selector));
    return bytes;
  }
  template <class V>
  __device__ static const V* global(const V* p) {
    return static_cast<const V*>(__cvta_global_to_generic(__cvta_generic_to_global(p)));
  }
  template <class V>
  __device__ static void keep_in_memory(V& v) {
    asm volatile("" ::"l"(&v) : "memory");
  }
  __device__ static std::uint32_t bit_select(std::uint32_t mask, std::uint32_t a, std::uint32_t b) {
    std::uint32_t bits;
    asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(bits) : "r"(mask), "r"(a), "r"(b));
    return bits;
  }
};
#endif

}  // namespace taut::cuda

// ChunkThreads: the threads of a thread block, which process a chunk together. 512 threads have one codec
// block of 8 values each; the 128 threads of a sum have four each.
#pragma once

#include "compressor/codecs/planes/format/format.hpp"
#include "compressor/gpu/simt/thread_group.hpp"

namespace taut::planes::cuda {

using namespace taut::cuda;

inline constexpr unsigned chunk_threads = chunk_blocks;
static_assert(chunk_threads <= block_threads_limit);
// Number of thread blocks of encode and decode, the usual kernels with 512 threads, on a multiprocessor.
inline constexpr unsigned resident_blocks = 4;
// The same of kernels that decode with lags or references, which need more registers.
inline constexpr unsigned resident_predicted_blocks = 2;

// Number of integers or rows of planes that loops process at a time; 1: the loop is rolled. 64-bit integers,
// which are rare, are in local memory.
template <class Int>
inline constexpr int at_a_time = sizeof(Int) == 8 ? 1 : block_values;

using ChunkThreadsShared = ThreadGroupShared;

template <class Simt, unsigned Threads = chunk_threads>
class ChunkThreads : public ThreadGroup<Simt, Threads> {
 public:
  using ThreadGroup<Simt, Threads>::ThreadGroup;
  static constexpr unsigned blocks_per_thread = chunk_blocks / Threads;  // number of blocks of a thread
};

}  // namespace taut::planes::cuda

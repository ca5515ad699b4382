// Divides an array of values into groups of 16 bytes, and the groups among the threads of a kernel.
#pragma once

#include "compressor/gpu/simt/load.hpp"
#include "compressor/values/reduction.hpp"

namespace taut::values::cuda {

using namespace taut::cuda;

inline constexpr unsigned block_threads = 256, block_warps = block_threads / warp_lanes;
inline constexpr BlockShape usual_shape{block_threads, 8};
inline constexpr std::uint32_t max_blocks = 1 << 16;  // of a kernel

// Number of values in a group.
template <class T>
inline constexpr unsigned group_values = sizeof(Quad) / sizeof(T);

// Returns the number of thread blocks for `count` values. If more than `limit` would be needed, a thread
// processes several groups.
template <class T>
std::uint32_t blocks_for(std::uint64_t count, std::uint32_t limit) {
  const std::uint64_t values_per_block = block_threads * group_values<T>,
                      blocks = (count + values_per_block - 1) / values_per_block;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, limit));
}

// Calls action(first, n) for each group of this thread: `n` values from index `first` on.
template <class T, class Simt, class Action>
TAUT_DEVICE void each_group(const Simt& simt, std::uint64_t count, std::uint32_t blocks,
                            const Action& action) {
  constexpr unsigned n = group_values<T>;
  const std::uint64_t step = std::uint64_t{blocks} * block_threads * n;
  TAUT_ROLLED
  for (std::uint64_t first = (std::uint64_t{simt.block()} * block_threads + simt.thread()) * n; first < count;
       first += step)
    action(first, count - first < n ? static_cast<unsigned>(count - first) : n);
}

}  // namespace taut::values::cuda

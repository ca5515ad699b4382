// Prefetching into the L2 cache: a block loads the record that the block after it, on the same
// multiprocessor, will read. A block makes several trips to memory, one after the other, and too few blocks
// reside on a multiprocessor to hide them. A trip to the cache takes half as long as one to memory.
#pragma once

#include "compressor/gpu/simt/source.hpp"

namespace taut::cuda {

inline constexpr unsigned line_words = 32;   // words that one prefetch loads
inline constexpr unsigned most_lines = 512;  // limit where an index is damaged; more than any record has

// Returns the number of the block that starts when this one ends, if `resident` blocks run on each
// multiprocessor. Blocks start in the order of their numbers.
template <class Simt>
TAUT_DEVICE std::uint32_t next_resident(const Simt& simt, unsigned resident) {
  return simt.block() + resident * simt.multiprocessors();
}

// Prefetches the record of chunk i. In a frame with lags this may be other words, which does no harm. Nothing
// beyond the frame's bytes is accessed. Called by a warp.
template <class Simt>
TAUT_DEVICE void prefetch_record(const Simt& simt, const Source& source, std::uint32_t chunks,
                                 std::uint32_t i) {
  const std::uint64_t all = source.bytes / 4, before = std::uint64_t{header_words} + chunks + 1;
  if (i >= chunks || source.frame == nullptr || before > all) return;
  const std::uint32_t* const index = source.frame + header_words;
  const std::uint32_t first = index[i], last = index[i + 1];
  if (first >= last || last > all - before) return;
  const std::uint32_t lines = (last - first + line_words - 1) / line_words,
                      most = lines < most_lines ? lines : most_lines;
  TAUT_ROLLED
  for (std::uint32_t line = simt.thread() % warp_lanes; line < most; line += warp_lanes)
    simt.prefetch(source.frame + before + first + line * line_words);
}

}  // namespace taut::cuda

// Finds the records that a kernel reads, in a frame or in slots, and loads their words.
#pragma once

#include "compressor/gpu/simt/frame.hpp"

namespace taut::cuda {

// Words of a record that may be read, from its first word on.
struct Words {
  const std::uint32_t* data = nullptr;
  std::uint32_t count = 0;

  TAUT_DEVICE std::uint32_t operator[](std::uint32_t i) const { return i < count ? data[i] : 0; }
  // Returns byte i, which must be in range.
  TAUT_DEVICE std::uint8_t byte(std::uint32_t i) const {
    return reinterpret_cast<const std::uint8_t*>(data)[i];
  }
  // Returns four bytes from any byte position on.
  TAUT_DEVICE std::uint32_t word(std::uint32_t byte) const {
    const std::uint64_t both = (*this)[byte / 4] | std::uint64_t{(*this)[byte / 4 + 1]} << 32;
    return static_cast<std::uint32_t>(both >> (8 * (byte % 4)));
  }
};

// Memory that holds the records of a frame, or slots with a record each.
struct Source {
  const std::uint32_t* frame;  // frame with its header; null: slots
  std::uint64_t bytes;         // number of bytes that may be read at `frame`
  const std::uint32_t* words;  // slots only: number of words of each chunk
  const std::uint32_t* slots;
  std::uint32_t slot_words;
};

inline Source source_of(const std::byte* frame, std::uint64_t bytes) {
  return {reinterpret_cast<const std::uint32_t*>(frame), bytes, nullptr, nullptr, 0};
}

// Finds the record of chunk i in a frame whose records have `record_words` words. Returns false if the index
// is invalid there.
TAUT_DEVICE bool find_record(const Source& source, std::uint32_t record_words, std::uint32_t chunks,
                             std::uint32_t i, Words& words) {
  if (source.frame == nullptr) {
    words = {source.slots + std::uint64_t{i} * source.slot_words, source.words[i]};
    return words.count <= source.slot_words;
  }
  const std::uint32_t* const index = source.frame + header_words;
  const std::uint32_t first = index[i], last = index[i + 1];
  words = {index + chunks + 1 + first, last - first};
  return first <= last && last <= record_words && (i > 0 || first == 0) &&
         (i + 1 < chunks || last == record_words);
}

// ---- Prefetching into the L2 cache: a block loads the record that the block after it, on the same
// multiprocessor, will read. A block makes several trips to memory, one after the other, and too few blocks
// reside on a multiprocessor to hide them. A trip to the cache takes half as long as one to memory.

inline constexpr unsigned line_words = 32;  // words that one prefetch loads
inline constexpr unsigned max_lines = 512;  // no record has as many; a damaged index may name more

// Returns the number of the block that starts when this one ends, if `resident` blocks run on each
// multiprocessor. Blocks start in the order of their numbers.
template <class Simt>
TAUT_DEVICE std::uint32_t next_resident(const Simt& simt, unsigned resident) {
  return simt.block() + resident * simt.multiprocessors();
}

// Prefetches the record of chunk i. If lags, references or a grid precede the index, these are other words,
// which does no harm. Nothing beyond the frame's bytes is accessed. Called by a warp.
template <class Simt>
TAUT_DEVICE void prefetch_record(const Simt& simt, const Source& source, std::uint32_t chunks,
                                 std::uint32_t i) {
  const std::uint64_t all = source.bytes / 4, before = std::uint64_t{header_words} + chunks + 1;
  if (i >= chunks || source.frame == nullptr || before > all) return;
  const std::uint32_t* const index = source.frame + header_words;
  const std::uint32_t first = index[i], last = index[i + 1];
  if (first >= last || last > all - before) return;
  const std::uint32_t lines = (last - first + line_words - 1) / line_words,
                      most = lines < max_lines ? lines : max_lines;
  TAUT_ROLLED
  for (std::uint32_t line = simt.thread() % warp_lanes; line < most; line += warp_lanes)
    simt.prefetch(source.frame + before + first + line * line_words);
}

}  // namespace taut::cuda

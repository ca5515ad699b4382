// Works on the widths, in bit planes, of the codec blocks that a thread processes. A word holds one width in
// each byte, the first block's in the lowest byte. No width exceeds 64. `BlocksPerThread`, the number of
// blocks of a thread, is 1 or 4.
#pragma once

#include "compressor/gpu/planes/chunk_threads.hpp"

namespace taut::planes::cuda {

TAUT_DEVICE unsigned width_at(std::uint32_t widths, unsigned block) { return widths >> (8 * block) & 0xFF; }

// True if some byte exceeds `limit`, which is below 128. Bytes may have any value here. The addition of 127 -
// limit sets the top bit of each byte that exceeds the limit.
template <unsigned BlocksPerThread>
TAUT_DEVICE bool any_above(std::uint32_t widths, unsigned limit) {
  if constexpr (BlocksPerThread == 1) {
    return widths > limit;
  } else {
    return ((((widths & 0x7F7F7F7F) + 0x01010101 * (127 - limit)) | widths) & 0x80808080) != 0;
  }
}

// True if some width does not fit in a nibble.
TAUT_DEVICE bool any_above_nibble(std::uint32_t widths) { return (widths & 0xF0F0F0F0) != 0; }

template <unsigned BlocksPerThread>
TAUT_DEVICE std::uint32_t sum_of_widths(std::uint32_t widths) {
  if constexpr (BlocksPerThread == 1) {
    return widths;
  } else {
    const std::uint32_t pairs = (widths & 0x00FF00FF) + (widths >> 8 & 0x00FF00FF);
    return (pairs + (pairs >> 16)) & 0xFFFF;
  }
}

// Returns a bit for each block: 1 if its width is not 0.
template <unsigned BlocksPerThread>
TAUT_DEVICE std::uint32_t coded_mask(std::uint32_t widths) {
  if constexpr (BlocksPerThread == 1) {
    return widths != 0;
  } else {
    const std::uint32_t coded = (widths + 0x7F7F7F7F) >> 7 & 0x01010101;
    return coded * 0x10204080 >> 28;  // bit 8 i of `coded` becomes bit i
  }
}

// Returns the number of marked blocks. `marks` has a bit for each block of a thread.
template <unsigned BlocksPerThread, class Simt>
TAUT_DEVICE std::uint32_t count_marked(const Simt& simt, std::uint32_t marks) {
  return BlocksPerThread == 1 ? marks : simt.popcount(marks);
}

// Returns a bit for each block of a thread that is one of the chunk's `blocks` blocks.
template <unsigned BlocksPerThread>
TAUT_DEVICE std::uint32_t existing_mask(unsigned thread, std::uint32_t blocks) {
  const std::uint32_t first = thread * BlocksPerThread;
  if constexpr (BlocksPerThread == 1) {
    return first < blocks;
  } else {
    return first + BlocksPerThread <= blocks ? (1u << BlocksPerThread) - 1
           : first < blocks                  ? (1u << (blocks - first)) - 1
                                             : 0;
  }
}

// Returns the lowest `n` bytes of a word, and zeros above them.
TAUT_DEVICE std::uint32_t low_bytes(std::uint32_t word, std::uint32_t n) {
  return n < 4 ? word & ((1u << (8 * n)) - 1) : word;
}

// Moves the bytes of a word to the places that `blocks` marks, in order; the other bytes become 0 (digit 4 of
// a selector is a byte of the second word).
template <class Simt>
TAUT_DEVICE std::uint32_t spread_bytes(const Simt& simt, std::uint32_t word, std::uint32_t blocks) {
  std::uint32_t selector = 0, next = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t marked = blocks >> i & 1;
    selector |= (marked != 0 ? next : 4u) << (4 * i);
    next += marked;
  }
  return simt.permute_bytes(word, 0, selector);
}

// Converts four nibbles to bytes, and back.
TAUT_DEVICE std::uint32_t bytes_of_nibbles(std::uint32_t nibbles) {
  const std::uint32_t pairs = ((nibbles & 0xFFFF) | nibbles << 8) & 0x00FF00FF;
  return (pairs | pairs << 4) & 0x0F0F0F0F;
}
TAUT_DEVICE std::uint32_t nibbles_of_bytes(std::uint32_t bytes) {
  const std::uint32_t pairs = (bytes | bytes >> 4) & 0x00FF00FF;
  return (pairs | pairs >> 8) & 0xFFFF;
}

}  // namespace taut::planes::cuda

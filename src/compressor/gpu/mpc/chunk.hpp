// A chunk of words as a warp processes it: in every step each lane takes a block of 8 words. Only the
// placement of records involves more than one warp. codecs/mpc/spec.md explains the parts of a record:
// planes, bitmaps, vectors of 64 bytes of words, heads, flags, top.
#pragma once

#include "compressor/codecs/mpc/format.hpp"
#include "compressor/codecs/mpc/rounding.hpp"
#include "compressor/gpu/simt/bit_planes.hpp"
#include "compressor/gpu/simt/load.hpp"

namespace taut::mpc::cuda {

using namespace taut::cuda;

inline constexpr unsigned lane_words = matrix_side;  // words of a block, which a lane takes in a step
inline constexpr unsigned block_warps = 8, block_threads = block_warps * warp_lanes;
// Launch shape of a kernel on words of that type.
template <class Word>
inline constexpr BlockShape shape_for{block_threads, sizeof(Word) == 8 ? 4 : 5};

template <class Word>
inline constexpr unsigned chunk_words = chunk_bytes / sizeof(Word);
// Number of steps in which a warp processes a chunk.
template <class Word>
inline constexpr unsigned chunk_steps = chunk_words<Word> / (lane_words * warp_lanes);

// Mask that converts numbers to negabinary digits: digits = (number + mask) ^ mask.
template <class Word>
inline constexpr Word negabinary_mask = static_cast<Word>(0xAAAAAAAAAAAAAAAA);

// Number of bits in the bitmap of a block's planes, which fills a word. The lowest bit stands for the top
// plane.
template <class Word>
inline constexpr unsigned bitmap_bits = 8 * sizeof(Word);

// Returns the number of groups of chunks: a thread block processes a group, a warp one of its chunks.
constexpr std::uint32_t groups_of(std::uint32_t chunks) { return (chunks + block_warps - 1) / block_warps; }

// Unsigned integer type of `Bytes` bytes.
template <std::size_t Bytes>
using WordOf =
    std::conditional_t<Bytes == 1, std::uint8_t,
                       std::conditional_t<Bytes == 2, std::uint16_t,
                                          std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

// Type that holds a word in a register.
template <class Word>
using InRegister = std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>;

// Returns the number of words in chunk `chunk` of a message of `count` words.
template <class Word>
TAUT_DEVICE std::uint32_t words_of(std::uint64_t count, std::uint32_t chunk) {
  const std::uint64_t left = count - std::uint64_t{chunk} * chunk_words<Word>;
  return left < chunk_words<Word> ? static_cast<std::uint32_t>(left) : chunk_words<Word>;
}

template <class Simt, class Word>
TAUT_DEVICE Word reversed_bits(const Simt& simt, Word bits) {
  if constexpr (sizeof(Word) == 8) {
    return simt.reverse_bits(bits);
  } else {
    return static_cast<Word>(simt.reverse_bits(std::uint32_t{bits}) >> (32 - bitmap_bits<Word>));
  }
}

// Returns a word as the encoder uses it: rounded, if rounding is asked for. Words of one byte are never
// rounded, because no floating-point type has one byte.
template <class Word>
TAUT_DEVICE Word input_word(Word word, const Rounding& rounding) {
  return sizeof(Word) == 1 || rounding.dropped == 0 ? word : rounded(word, rounding);
}

// Returns the mask of the bits below bit i of a 64-bit table.
TAUT_DEVICE std::uint64_t below(unsigned i) { return (std::uint64_t{1} << i) - 1; }

}  // namespace taut::mpc::cuda

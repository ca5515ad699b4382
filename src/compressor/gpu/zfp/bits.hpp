// Reads and writes bit streams, which fill each word from its lowest bit.
#pragma once

#include "compressor/gpu/simt/simt.hpp"

namespace taut::zfp::cuda {

using namespace taut::cuda;

TAUT_DEVICE std::uint32_t low_bits(std::uint32_t v, unsigned n) {
  return n < 32 ? v & ((std::uint32_t{1} << n) - 1) : v;
}

// Returns v shifted right by n bits; 0 if n is at least the number of bits.
template <class V>
TAUT_DEVICE V shifted_out(V v, unsigned n) {
  return n < 8 * sizeof(V) ? v >> n : V{0};
}

// Returns the number of zeros below the lowest 1; of 32 bits without a 1, 32.
template <class Simt>
TAUT_DEVICE unsigned trailing_zeros(const Simt& simt, std::uint32_t v) {
  return simt.popcount(~v & (v - 1));
}
template <class Simt>
TAUT_DEVICE unsigned trailing_zeros(const Simt& simt, std::uint64_t v) {
  const auto low = static_cast<std::uint32_t>(v), high = static_cast<std::uint32_t>(v >> 32);
  return trailing_zeros(simt, low != 0 ? low : high) + (low != 0 ? 0 : 32);
}

// Returns the minimum of three numbers; the last one is not negative.
TAUT_DEVICE unsigned min3(unsigned a, unsigned b, int c) {
  const unsigned ab = a < b ? a : b;
  return ab < static_cast<unsigned>(c) ? ab : static_cast<unsigned>(c);
}

// Returns the place of word i of a stream in shared memory. In the order of the stream, word k of all blocks
// of a warp would be in one bank if blocks have 32 or 64 words, in two or four banks if they have 16 or 8.
TAUT_DEVICE std::uint32_t place_of_word(std::uint32_t i) { return i ^ (i / warp_lanes % warp_lanes); }

// Writes the bits of one block among those of other blocks, to words that were zero. Bits beyond the block's
// share are dropped when a word is complete.
template <class Simt>
class BitWriter {
 public:
  TAUT_DEVICE BitWriter(const Simt& simt, std::uint32_t* words, std::uint32_t first, unsigned bits)
      : simt_(simt),
        words_(words),
        word_(first / 32),
        filled_(first % 32),
        end_(static_cast<int>(first % 32 + bits)) {}

  // Returns true until the block's share is full.
  TAUT_DEVICE bool has_room() const { return static_cast<int>(filled_) < end_; }

  // Writes the n low bits of v; the others are 0. n is at most 32.
  TAUT_DEVICE void put(std::uint32_t v, unsigned n) {
    const std::uint64_t both = std::uint64_t{v} << filled_;
    buffer_ |= static_cast<std::uint32_t>(both);
    filled_ += n;
    if (filled_ < 32) return;
    flush();
    buffer_ = static_cast<std::uint32_t>(both >> 32);
    filled_ -= 32;
    end_ -= 32;
    ++word_;
  }
  // Writes the code of a plane's next 1: the bit 1, `zeros` 0 bits and a 1. The 1 at the end is left out for
  // the block's last coefficient, of which the decoder knows it.
  TAUT_DEVICE void put_next_one(unsigned zeros, bool is_last) {
    if (zeros < 31) return put(is_last ? 1 : 1 | 2u << zeros, is_last ? zeros + 1 : zeros + 2);
    put(1, 32);
    TAUT_ROLLED
    for (zeros -= 31; zeros >= 32; zeros -= 32) put(0, 32);
    put(is_last ? 0 : 1u << zeros, is_last ? zeros : zeros + 1);
  }
  // Adds the buffer to the current word, which neighbouring blocks may share.
  TAUT_DEVICE void flush() const {
    if (end_ > 0)
      simt_.atomic_add(words_ + place_of_word(word_), low_bits(buffer_, static_cast<unsigned>(end_)));
  }

 private:
  const Simt& simt_;
  std::uint32_t* words_;
  std::uint32_t word_;  // number of the current word
  std::uint32_t buffer_ = 0;
  unsigned filled_;  // bits in the buffer, below 32
  int end_;          // bits from the current word's first one to the end of the share
};

// The bytes of a frame as words; the last word may be incomplete.
struct FrameWords {
  const std::uint32_t* data;
  std::uint64_t bytes;

  TAUT_DEVICE std::uint32_t operator[](std::uint64_t i) const {
    if (4 * i + 4 <= bytes) return data[i];
    std::uint32_t word = 0;
    for (unsigned k = 0; 4 * i + k < bytes; ++k)
      word |= std::uint32_t{reinterpret_cast<const std::uint8_t*>(data)[4 * i + k]} << 8 * k;
    return word;
  }
};

// Reads the bits of one block. Bits after the last one are zeros.
template <class Simt>
class BitReader {
 public:
  TAUT_DEVICE BitReader(const Simt& simt, const FrameWords& words, std::uint64_t first, unsigned bits)
      : simt_(simt),
        words_(words),
        at_(words.data + first / 32),
        whole_((static_cast<unsigned>(first % 32) + bits) / 32),
        tail_((static_cast<unsigned>(first % 32) + bits) % 32),
        left_(static_cast<int>(bits)) {
    const auto skipped = static_cast<unsigned>(first % 32);
    buffer_ = load() >> skipped;
    filled_ = 32 - skipped;
    ahead_ = load();
  }

  // Returns the number of bits that are left; negative if more were read.
  TAUT_DEVICE int left() const { return left_; }

  // Returns the next 32 bits.
  TAUT_DEVICE std::uint32_t peek() {
    if (filled_ < 32) {
      buffer_ |= std::uint64_t{ahead_} << filled_;
      filled_ += 32;
      ahead_ = load();
    }
    return static_cast<std::uint32_t>(buffer_);
  }
  // Skips n of the bits that peek() returned.
  TAUT_DEVICE void skip(unsigned n) {
    buffer_ >>= n;
    filled_ -= n;
    left_ -= static_cast<int>(n);
  }
  // Reads n bits; n is at most 32.
  TAUT_DEVICE std::uint32_t take(unsigned n) {
    const std::uint32_t v = low_bits(peek(), n);
    skip(n);
    return v;
  }
  // Reads the zeros before a plane's next 1, and that 1. Behind `max_zeros` zeros the 1 is not stored. Stops
  // at the end of the block's bits. Returns the number of zeros.
  TAUT_DEVICE unsigned take_zeros(unsigned max_zeros) {
    unsigned zeros = 0;
    while (peek() == 0 && zeros + 32 <= max_zeros && left_ >= 32) {
      skip(32);
      zeros += 32;
    }
    const unsigned more = min3(trailing_zeros(simt_, peek()), max_zeros - zeros, left_);
    skip(zeros + more < max_zeros ? more + 1 : more);
    return zeros + more;
  }

 private:
  // Loads the next word.
  TAUT_DEVICE std::uint32_t load() {
    const unsigned i = next_++;
    if (i < whole_) return at_[i];
    return i == whole_ && tail_ > 0
               ? low_bits(words_[static_cast<std::uint64_t>(at_ - words_.data) + i], tail_)
               : 0;
  }

  const Simt& simt_;
  const FrameWords& words_;
  const std::uint32_t* at_;  // word in which the block begins
  unsigned whole_;           // words from `at_` on that the block fills to their ends
  unsigned tail_;            // bits of the block in the word after those
  unsigned next_ = 0;        // index of the next word to load
  int left_;
  std::uint64_t buffer_;  // the next bits
  unsigned filled_;       // number of bits in the buffer
  std::uint32_t ahead_;   // the word after the buffer: it is loaded long before it is used
};

}  // namespace taut::zfp::cuda

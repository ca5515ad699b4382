// Reads and writes bit streams, which fill each word from its lowest bit.
#pragma once

#include "gpu/simt/simt.hpp"

namespace taut::zfp::cuda {

using namespace taut::cuda;

TAUT_DEVICE std::uint32_t low_bits(std::uint32_t v, unsigned n) {
  return n < 32 ? v & ((std::uint32_t{1} << n) - 1) : v;
}

// Returns v without its n lowest bits; 0 if n is at least the number of bits.
template <class V>
TAUT_DEVICE V without_low(V v, unsigned n) {
  return n < 8 * sizeof(V) ? v >> n : V{0};
}

// Returns the number of zeros below the lowest 1.
template <class Simt, class V>
TAUT_DEVICE unsigned trailing_zeros(const Simt& simt, V v) {
  return simt.population(static_cast<V>(~v & (v - 1)));
}

// Writes the bits of one block among those of other blocks, to words that were zero. Bits beyond the block's
// share are dropped.
template <class Simt>
class BitWriter {
 public:
  TAUT_DEVICE BitWriter(const Simt& simt, std::uint32_t* words, std::uint32_t first, unsigned bits)
      : simt_(simt), word_(words + first / 32), filled_(first % 32), left_(bits) {}

  TAUT_DEVICE unsigned left() const { return left_; }

  TAUT_DEVICE void put(std::uint32_t v, unsigned n) {
    n = n < left_ ? n : left_;
    left_ -= n;
    buffer_ |= std::uint64_t{low_bits(v, n)} << filled_;
    filled_ += n;
    if (filled_ < 32) return;
    flush();
    buffer_ >>= 32;
    filled_ -= 32;
    ++word_;
  }
  TAUT_DEVICE void put(std::uint64_t v, unsigned n) {
    put(static_cast<std::uint32_t>(v), n < 32 ? n : 32);
    if (n > 32) put(static_cast<std::uint32_t>(v >> 32), n - 32);
  }
  // Adds the buffer to the current word, which neighbouring blocks may share.
  TAUT_DEVICE void flush() const {
    if (filled_ > 0) simt_.add(word_, static_cast<std::uint32_t>(buffer_));
  }

 private:
  const Simt& simt_;
  std::uint32_t* word_;
  std::uint64_t buffer_ = 0;
  unsigned filled_, left_;
};

// The bytes of a frame as words; the last word may be incomplete.
struct FrameWords {
  const std::uint32_t* at;
  std::uint64_t bytes;

  TAUT_DEVICE std::uint32_t operator[](std::uint64_t i) const {
    if (4 * i + 4 <= bytes) return at[i];
    std::uint32_t word = 0;
    for (unsigned k = 0; 4 * i + k < bytes; ++k)
      word |= std::uint32_t{reinterpret_cast<const std::uint8_t*>(at)[4 * i + k]} << 8 * k;
    return word;
  }
};

// Reads the bits of one block. After the last bit, returns zeros, and left() is 0.
template <class Simt>
class BitReader {
 public:
  TAUT_DEVICE BitReader(const Simt& simt, const FrameWords& words, std::uint64_t first, unsigned bits)
      : simt_(simt), words_(words), next_(first / 32 + 1), left_(bits) {
    const auto skipped = static_cast<unsigned>(first % 32);
    buffer_ = words[first / 32] >> skipped;
    filled_ = 32 - skipped;
  }

  TAUT_DEVICE unsigned left() const { return left_; }

  // Reads n bits; n is at most 32.
  TAUT_DEVICE std::uint32_t take(unsigned n) {
    n = n < left_ ? n : left_;
    left_ -= n;
    if (filled_ < n) refill();
    const std::uint32_t v = low_bits(static_cast<std::uint32_t>(buffer_), n);
    drop(n);
    return v;
  }
  template <class V>
  TAUT_DEVICE V take_as(unsigned n) {
    const V low = take(n < 32 ? n : 32);
    if constexpr (sizeof(V) == 8)
      if (n > 32) return low | V{take(n - 32)} << 32;
    return low;
  }
  // Reads zeros up to the next 1, which is not read. Reads at most `most` bits, and at most the bits that are
  // left. Returns the number of zeros.
  TAUT_DEVICE unsigned take_zeros(unsigned most) {
    most = most < left_ ? most : left_;
    for (unsigned taken = 0;;) {
      if (filled_ == 0) refill();
      const unsigned zeros = trailing_zeros(simt_, buffer_), here = zeros < filled_ ? zeros : filled_;
      const unsigned n = here < most - taken ? here : most - taken;
      drop(n);
      left_ -= n;
      taken += n;
      if (taken == most || zeros == n) return taken;
    }
  }

 private:
  TAUT_DEVICE void refill() {
    buffer_ |= std::uint64_t{words_[next_++]} << filled_;
    filled_ += 32;
  }
  TAUT_DEVICE void drop(unsigned n) {
    buffer_ >>= n;
    filled_ -= n;
  }

  const Simt& simt_;
  const FrameWords& words_;
  std::uint64_t next_, buffer_;
  unsigned filled_, left_;
};

}  // namespace taut::zfp::cuda

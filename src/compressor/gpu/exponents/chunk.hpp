// Chunk as a thread block processes it: each thread has 8 neighbouring values, in four registers, and eight
// threads have a group of 64 values. Byte j of a bit plane of a group belongs to thread j of its threads.
#pragma once

#include "compressor/codecs/exponents/format.hpp"
#include "compressor/gpu/simt/bit_planes.hpp"
#include "compressor/gpu/simt/load.hpp"
#include "compressor/gpu/simt/thread_group.hpp"
#include "compressor/values/half.hpp"

namespace taut::exponents::cuda {

using namespace taut::cuda;

inline constexpr unsigned thread_values = matrix_side;  // values of a thread
inline constexpr unsigned chunk_threads = chunk_values / thread_values,
                          group_threads = group_values / thread_values;
inline constexpr BlockShape chunk_shape{chunk_threads, 3};
inline constexpr std::uint32_t header_bytes = sizeof(RecordHeader);

// Number of spare bits of a value: see SplitValues of codecs/exponents/kernels.hpp.
template <class T>
inline constexpr unsigned spare_bits_of = spare_bits(dtype_of<T>);
template <class T>
inline constexpr bool has_spare = spare_bits(dtype_of<T>) > 0;

constexpr std::uint32_t index_words(std::uint32_t chunks) { return chunks + 1; }

// Returns the number of values in chunk `chunk` of a message of `count` values.
TAUT_DEVICE std::uint32_t values_of(std::uint64_t count, std::uint32_t chunk) {
  const std::uint64_t left = count - std::uint64_t{chunk} * chunk_values;
  return left < chunk_values ? static_cast<std::uint32_t>(left) : std::uint32_t{chunk_values};
}

// Returns how many of a thread's eight values are among the first n of the chunk.
TAUT_DEVICE unsigned own_values(unsigned thread, std::uint32_t n) {
  const std::uint32_t first = thread * thread_values;
  return n <= first ? 0 : n - first < thread_values ? n - first : thread_values;
}

// Returns the number of 4-byte units of a record that holds n values themselves.
TAUT_DEVICE std::uint32_t plain_words(std::uint32_t n) { return (n + 1) / 2; }

// One byte of each of a thread's eight values.
struct OwnBytes {
  std::uint32_t word[2];

  TAUT_DEVICE std::uint32_t operator[](unsigned i) const { return word[i / 4] >> (8 * (i % 4)) & 0xFF; }
};

// Contents of a coded record's header, and the first byte of each part of the record.
struct RecordLayout {
  unsigned width;  // bits of a code of the first book
  bool omits_zero_low_bytes;
  std::uint32_t escapes, raw_symbols, low_bytes;  // their numbers
  std::uint32_t planes, second_book, second_planes, raw, spare_planes, low, end;

  // Computes the first bytes of the parts from the other members. `n`: values of whole groups.
  template <class T>
  TAUT_DEVICE void place(std::uint32_t n) {
    planes = header_bytes + (1u << width) - 1;
    second_book = planes + n / thread_values * width;
    second_planes = second_book + (escapes > 0 ? (1u << second_width) - 1 : 0);
    raw = second_planes + static_cast<std::uint32_t>(plane_bytes(groups_of(escapes), second_width));
    spare_planes = raw + raw_symbols;
    low = spare_planes + n / thread_values * spare_bits_of<T>;
    end = low + low_bytes;
  }
  TAUT_DEVICE std::uint32_t words() const { return (end + 3) / 4; }
};

// Convert bytes in the order of values to the rows of bit_planes.hpp, and back: the even bytes of two words
// (selector 0x6420) and the odd ones (0x7531); the first two bytes of two words in turn (0x5140), and the
// last two (0x7362).
template <class Simt>
TAUT_DEVICE ByteRow rows_of(const Simt& simt, const OwnBytes& bytes) {
  return {simt.permute_bytes(bytes.word[0], bytes.word[1], 0x6420),
          simt.permute_bytes(bytes.word[0], bytes.word[1], 0x7531)};
}
template <class Simt>
TAUT_DEVICE OwnBytes bytes_of(const Simt& simt, const ByteRow& rows) {
  return {{simt.permute_bytes(rows.even, rows.odd, 0x5140), simt.permute_bytes(rows.even, rows.odd, 0x7362)}};
}

// Returns a mask of eight bits: bit i is set if byte i is not 0.
TAUT_DEVICE std::uint32_t nonzero(const OwnBytes& bytes) {
  return nonzero_bytes(bytes.word[0]) | nonzero_bytes(bytes.word[1]) << 4;
}

// Returns the mask of the values whose lowest `width` code bits are all ones.
TAUT_DEVICE std::uint32_t all_ones(std::uint32_t planes, unsigned width) {
  std::uint32_t mask = 0xFF;
  for (unsigned k = 0; k < 4; ++k) mask &= k < width ? planes >> (8 * k) : 0xFF;
  return mask;
}

// The eight values of a thread, split into symbols, low bytes and spare bits: see SplitValues of
// codecs/exponents/kernels.hpp.
template <class T>
struct SplitQuad {
  OwnBytes symbols, low, spare_bits;

  // Splits the values. Of each rotated value the lower byte is the low byte; the upper byte holds the symbol
  // above the spare bits.
  template <class Simt>
  TAUT_DEVICE static SplitQuad split(const Simt& simt, const Quad& values) {
    std::uint32_t rotated[4];  // every value, rotated left by one bit
    for (unsigned i = 0; i < 4; ++i)
      rotated[i] = (values.words[i] << 1 & 0xFFFEFFFE) | (values.words[i] >> 15 & 0x00010001);
    SplitQuad parts;
    for (unsigned i = 0; i < 2; ++i) {
      parts.low.word[i] = simt.permute_bytes(rotated[2 * i], rotated[2 * i + 1], 0x6420);
      const std::uint32_t high = simt.permute_bytes(rotated[2 * i], rotated[2 * i + 1], 0x7531);
      parts.symbols.word[i] = spare_bits_of<T> == 0 ? high : high >> spare_bits_of<T> & 0x1F1F1F1F;
      parts.spare_bits.word[i] = spare_bits_of<T> == 0 ? 0 : high & 0x07070707;
    }
    return parts;
  }

  // Returns the values, the inverse of split().
  template <class Simt>
  TAUT_DEVICE Quad joined(const Simt& simt) const {
    Quad values;
    for (unsigned i = 0; i < 2; ++i) {
      const std::uint32_t high =
          spare_bits_of<T> == 0 ? symbols.word[i]
                                : (symbols.word[i] << spare_bits_of<T> & 0xF8F8F8F8) | spare_bits.word[i];
      for (unsigned k = 0; k < 2; ++k) {
        const std::uint32_t rotated = simt.permute_bytes(low.word[i], high, k == 0 ? 0x5140 : 0x7362);
        values.words[2 * i + k] = (rotated >> 1 & 0x7FFF7FFF) | (rotated << 15 & 0x80008000);
      }
    }
    return values;
  }
};

}  // namespace taut::exponents::cuda

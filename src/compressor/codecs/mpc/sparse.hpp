// The sparse form of a record: places and values of the words that are not 0. spec.md beside this file
// specifies it. The host's kernels and those for GPUs share what is here.
//
//   record = levels | 0..7 bytes of 0 | u64 0
//   level  = u16 n - 1, top bit: another level follows | u8 bits | upper parts of the places, a bitmap
//            | lower parts of the places | lowest `bits` bits of the numbers
#pragma once

#include <cstdint>

#include "compressor/codecs/mpc/format.hpp"

namespace taut::mpc {

// Encoders use the form in messages of at least this many bytes. Shorter ones keep the bytes of version 2.
inline constexpr std::size_t least_sparse_bytes = std::size_t{1} << 14;

inline constexpr unsigned most_levels = 4;
inline constexpr std::size_t level_header_bytes = 3;
inline constexpr std::uint32_t more_levels = 0x8000;  // in the first two bytes of a level
inline constexpr std::size_t sparse_end_bytes = 8;    // the last bytes of a sparse record; all are 0

// One in rest_share numbers of a level, at most, has bits in the next level.
inline constexpr std::uint32_t rest_share = 8;

// Returns true for a number of words above 0 at which an encoder considers the form.
constexpr bool is_sparse_count(std::uint32_t n, std::uint32_t words) noexcept { return 4 * n <= 3 * words; }

// An encoder looks at the zeros among a few words, and considers the form if there are enough.
// If nearly all are, the form is encoded first.
inline constexpr unsigned probes = 8, least_zero_probes = 2, most_zero_probes = 7;
constexpr std::uint32_t probe(unsigned k, std::uint32_t words) noexcept {
  return (2 * k + 1) * words / (2 * probes);
}

// A level: n of `of` numbers are not 0. `bits` bits of each are in this level.
struct Level {
  std::uint32_t of, n;
  unsigned bits;

  // A dense level has a bit for each number. Other levels have the lowest bits of a place apart, and its
  // upper part in unary.
  constexpr bool dense() const noexcept { return 4 * n > of; }
  constexpr unsigned low_bits() const noexcept {  // the greatest number with n << low_bits <= of
    unsigned low = 0;
    while (!dense() && n << (low + 1) <= of) ++low;
    return low;
  }
  constexpr std::uint32_t upper_bits() const noexcept { return dense() ? of : n + ((of - 1) >> low_bits()); }
  constexpr std::uint32_t upper_bytes() const noexcept { return bytes_of(upper_bits()); }
  constexpr std::uint32_t low_bytes() const noexcept { return bytes_of(n * low_bits()); }
  constexpr std::uint32_t value_bytes() const noexcept { return bytes_of(n * bits); }
  constexpr std::uint32_t bytes() const noexcept {
    return static_cast<std::uint32_t>(level_header_bytes) + upper_bytes() + low_bytes() + value_bytes();
  }

 private:
  static constexpr std::uint32_t bytes_of(std::uint32_t bits) noexcept { return (bits + 7) / 8; }
};

// Words that are not 0 as numbers above 0, and back: 1, 2, 3, ... for the words -1, 1, -2, ...
template <class Word>
constexpr Word number_of(Word word) noexcept {
  const auto sign = static_cast<Word>(-(word >> (8 * sizeof word - 1)));
  return static_cast<Word>(static_cast<Word>(word << 1) ^ sign);
}
template <class Word>
constexpr Word word_of(Word number) noexcept {
  return static_cast<Word>(number >> 1 ^ static_cast<Word>(-(number & 1)));
}

// Returns the bytes of the coded record without planes, which ends in 8 bytes of 0 too.
constexpr std::size_t empty_record_bytes(std::size_t heads) noexcept {
  return units_of(heads + sparse_end_bytes) * index_unit;
}

// Returns the bytes of a sparse record whose levels have `levels` bytes, in a frame whose heads have `heads`.
constexpr std::size_t sparse_record_bytes(std::size_t levels, std::size_t heads) noexcept {
  const std::size_t bytes = units_of(levels + sparse_end_bytes) * index_unit;
  return bytes == empty_record_bytes(heads) ? bytes + index_unit : bytes;
}

// Returns true for a record in the sparse form; the record is shorter than the words.
inline bool is_sparse_record(ConstBytes record, std::size_t heads) noexcept {
  return record.size() > sparse_end_bytes && record.size() != empty_record_bytes(heads) &&
         load<std::uint64_t>(record.data() + record.size() - sparse_end_bytes) == 0;
}

}  // namespace taut::mpc

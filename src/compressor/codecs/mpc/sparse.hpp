// Sparse form of a record: places (indices in the chunk) and values of the words that are not 0. spec.md
// beside this file specifies it. The kernels of the host and those for GPUs share this header.
//
//   record = levels | 0..7 bytes of 0 | u64 0
//   level  = u16 nonzero - 1, top bit: another level follows | u8 bits | upper parts of the places, a bitmap
//            | lower parts of the places | lowest `bits` bits of each nonzero number, less 1
//
// Level 1 has the numbers of all words (number_of()), level 2 the rest of each of level 1's nonzero numbers:
// the bits of the number, less 1, above the lowest `bits`. Further levels follow in the same way.
#pragma once

#include <cstdint>

#include "compressor/codecs/mpc/format.hpp"

namespace taut::mpc {

// Minimum bytes of a message whose encoder uses the form. Shorter messages have frames of format version 2.
inline constexpr std::size_t min_sparse_bytes = std::size_t{1} << 14;

inline constexpr unsigned max_levels = 4;
inline constexpr std::size_t level_header_bytes = 3;
inline constexpr std::uint32_t more_levels = 0x8000;  // in the first two bytes of a level
inline constexpr std::size_t sparse_end_bytes = 8;    // the last bytes of a sparse record; all are 0

// An encoder chooses the least `bits` that leave a rest in at most one of rest_share nonzero numbers.
inline constexpr std::uint32_t rest_share = 8;

// Returns true if an encoder considers the form for `words` words, `nonzero` of which are not 0.
constexpr bool is_sparse_count(std::uint32_t nonzero, std::uint32_t words) noexcept {
  return 4 * nonzero <= 3 * words;
}

// Words of a chunk that an encoder tests for 0 first. It considers the form if min_zero_probes of them are 0.
// If mostly_zero_probes are, it encodes the sparse form before the coded record.
inline constexpr unsigned probed_words = 8, min_zero_probes = 2, mostly_zero_probes = 7;
// Returns the index of the k-th of these words among `words` words.
constexpr std::uint32_t probed_word(unsigned k, std::uint32_t words) noexcept {
  return (2 * k + 1) * words / (2 * probed_words);
}

// Level of `count` numbers, `nonzero` of which are not 0, and the bits that it stores of each of these.
struct Level {
  std::uint32_t count, nonzero;
  unsigned bits;

  // A dense level has a bit for each number. Other levels store the lowest low_bits() bits of each place
  // apart, and its upper part in unary.
  constexpr bool dense() const noexcept { return 4 * nonzero > count; }
  constexpr unsigned low_bits() const noexcept {  // greatest number with nonzero << low_bits <= count
    unsigned low = 0;
    while (!dense() && nonzero << (low + 1) <= count) ++low;
    return low;
  }
  constexpr std::uint32_t upper_bits() const noexcept {
    return dense() ? count : nonzero + ((count - 1) >> low_bits());
  }
  constexpr std::uint32_t upper_bytes() const noexcept { return bytes_of(upper_bits()); }
  constexpr std::uint32_t low_bytes() const noexcept { return bytes_of(nonzero * low_bits()); }
  constexpr std::uint32_t value_bytes() const noexcept { return bytes_of(nonzero * bits); }
  constexpr std::uint32_t bytes() const noexcept {
    return static_cast<std::uint32_t>(level_header_bytes) + upper_bytes() + low_bytes() + value_bytes();
  }

 private:
  static constexpr std::uint32_t bytes_of(std::uint32_t bits) noexcept { return (bits + 7) / 8; }
};

// number_of() maps a word that is not 0 to a number above 0 (zigzag): -1, 1, -2, ... to 1, 2, 3, ...
// word_of() is the inverse.
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

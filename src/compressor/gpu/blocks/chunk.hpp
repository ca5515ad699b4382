// A chunk of 64 codec blocks as a thread block processes it. Four threads, the lanes of a block, have 16 of
// its values each: four rows of four neighbours. Row k of lane l begins at value 16 k + 4 l, so that each
// lane makes whole words of the block's codes.
#pragma once

#include "compressor/codecs/blocks/numbers.hpp"
#include "compressor/gpu/simt/frame.hpp"
#include "compressor/gpu/simt/load.hpp"

namespace taut::blocks::cuda {

using namespace taut::cuda;

inline constexpr unsigned rows = 4, row_values = 4, block_lanes = 4;  // rows of a lane, lanes of a block
inline constexpr unsigned chunk_blocks = 64, chunk_threads = chunk_blocks * block_lanes;
inline constexpr BlockShape chunk_shape{chunk_threads, 4};

constexpr std::uint32_t chunks_of(std::uint64_t count) {
  return static_cast<std::uint32_t>((blocks_of(count) + chunk_blocks - 1) / chunk_blocks);
}

// A thread's codes: byte i of row k is that of value i of the row.
struct Codes {
  std::uint32_t row[rows];
};

// Words of the codes of a block that belong to one lane: word j is at byte 16 j + 4 lane.
struct CodeWords {
  std::uint32_t word[rows];
};
inline constexpr unsigned word_stride_bytes = 4 * block_lanes;
// Returns the number of words of a lane's codes, of `bits` bits each.
constexpr unsigned words_of(unsigned bits) { return bits / 2; }

// Return codes of 4, 6 or 8 bits packed to words, and unpacked.
TAUT_DEVICE CodeWords packed(const Codes& codes, unsigned bits) {
  const std::uint32_t* const c = codes.row;
  if (bits == 8) return {{c[0], c[1], c[2], c[3]}};
  CodeWords words{};
  for (unsigned j = 0; j < 2; ++j) words.word[j] = (c[j] & 0x0F0F0F0F) | (c[j + 2] & 0x0F0F0F0F) << 4;
  for (unsigned k = 0; k < rows && bits == 6; ++k) words.word[2] |= (c[k] >> 4 & 0x03030303) << (2 * k);
  return words;
}

TAUT_DEVICE Codes unpacked(const CodeWords& words, unsigned bits) {
  const std::uint32_t* const w = words.word;
  if (bits == 8) return {{w[0], w[1], w[2], w[3]}};
  Codes codes{};
  for (unsigned k = 0; k < rows; ++k) {
    codes.row[k] = w[k % 2] >> (4 * (k / 2)) & 0x0F0F0F0F;
    if (bits == 6) codes.row[k] |= (w[2] >> (2 * k) & 0x03030303) << 4;
  }
  return codes;
}

// Returns value i of a row of unpacked codes.
TAUT_DEVICE int code_at(std::uint32_t row, unsigned i, unsigned bits) {
  const unsigned sign = 1u << (bits - 1), raw = row >> (8 * i) & (2 * sign - 1);
  return static_cast<int>(raw ^ sign) - static_cast<int>(sign);
}

// The values of a lane in an array of `count` values.
template <class T>
class OwnValues {
 public:
  TAUT_DEVICE OwnValues(T* values, std::uint64_t count, std::uint64_t block, unsigned lane)
      : values_(values), count_(count), first_(block * block_values + lane * row_values) {}

  // Loads row k; values beyond the array are 0.
  TAUT_DEVICE void load(unsigned k, std::remove_const_t<T> (&x)[row_values]) const {
    const unsigned own = width(k);
    T* const from = at(k);
    if (by_rows(from, own)) {
      const auto row = load_as<Row>(from);
      for (unsigned i = 0; i < row_values; ++i) x[i] = row.values[i];
    } else {
      for (unsigned i = 0; i < row_values; ++i) x[i] = i < own ? from[i] : std::remove_const_t<T>{};
    }
  }

  TAUT_DEVICE void store(unsigned k, const T (&x)[row_values]) const {
    const unsigned own = width(k);
    T* const to = at(k);
    if (by_rows(to, own)) {
      Row row;
      for (unsigned i = 0; i < row_values; ++i) row.values[i] = x[i];
      return store_as(to, row);
    }
    for (unsigned i = 0; i < row_values; ++i)
      if (i < own) to[i] = x[i];
  }

 private:
  struct Row {
    std::remove_const_t<T> values[row_values];
  };

  TAUT_DEVICE T* at(unsigned k) const { return values_ + first_ + k * (row_values * block_lanes); }
  TAUT_DEVICE static bool by_rows(const T* at, unsigned own) {
    return own == row_values && reinterpret_cast<std::uintptr_t>(at) % sizeof(Row) == 0;
  }
  TAUT_DEVICE unsigned width(unsigned k) const {
    const std::uint64_t first = first_ + k * (row_values * block_lanes);
    if (first >= count_) return 0;
    return count_ - first < row_values ? static_cast<unsigned>(count_ - first) : row_values;
  }

  T* values_;
  std::uint64_t count_, first_;
};

}  // namespace taut::blocks::cuda

// Kernel sets of the mpc codec, one for each instruction set; all sets produce the same bytes. A kernel
// processes one chunk in whole vectors of 64 bytes; the caller pads a shorter chunk. The scalar set is the
// reference that tests compare the other sets with.
#pragma once

#include "compressor/codecs/mpc/format.hpp"
#include "compressor/codecs/mpc/grid.hpp"
#include "compressor/codecs/mpc/rounding.hpp"
#include "compressor/simd/kernel_choice.hpp"

namespace taut::mpc {

// Words, and the words that predict them, as whole vectors: each word is predicted as `near`, or as the sum
// of `near` and `far` less `both`. Absent sources are null. One reference is `near`; two predict 2 * newest -
// older: `near` and `far` are the newest, `both` is the older.
struct Sources {
  const std::byte* words;
  const std::byte* near = nullptr;  // words at the shorter lag
  const std::byte* far = nullptr;   // words at the longer lag
  const std::byte* both = nullptr;  // words at the sum of the lags; present if `far` is
};

// Output of the residuals of codes.
struct ResidualOutput {
  Sources sources = {};     // codes at the lags
  std::byte* to = nullptr;  // memory for the residuals; null: none are written
};

// Bytes of a sparse record, and a lower limit of the bytes of the coded record of the same words.
struct SparseSize {
  std::size_t bytes = 0;  // 0: the form does not suit the words
  std::size_t min_coded_bytes = 0;
};

// Kernels for one word size.
struct Kernels {
  // Encodes 1 <= vectors <= 64 vectors of words; each word is predicted by the word `distance` words before
  // it, with distance 0 by 0. `record` has room for max_record_bytes. Returns the record's size, a multiple
  // of 4.
  std::size_t (*encode)(const std::byte* words, std::size_t vectors, unsigned distance,
                        std::byte* record) noexcept;

  // Decodes a record and writes all vectors. The kernel may read `overrun` bytes beyond the end of the
  // record. Returns false for a malformed record.
  bool (*decode)(ConstBytes record, std::size_t vectors, unsigned distance, std::byte* words) noexcept;

  // encode_sparse() writes the record of the words in the sparse form (sparse.hpp), in a frame whose heads
  // have `heads` bytes. It returns 0 bytes if the record would have `limit` or more. The words have `size`
  // bytes and are stored in whole vectors. decode_sparse() may read `overrun` bytes beyond the record, and
  // returns false for a malformed one.
  SparseSize (*encode_sparse)(const std::byte* words, std::size_t size, std::size_t heads, std::size_t limit,
                              std::byte* record) noexcept;
  bool (*decode_sparse)(ConstBytes record, std::size_t size, std::byte* words) noexcept;

  // Rounds each word as a value of the floating-point type of this size. Null for words of one byte.
  void (*round)(const std::byte* words, std::size_t vectors, const Rounding& rounding,
                std::byte* rounded) noexcept;

  // subtract_lags() computes residuals from words, and add_lags() words from residuals. There is at least one
  // lag; `to` may be the place of the words.
  void (*subtract_lags)(const Sources& sources, std::size_t vectors, std::byte* to) noexcept;
  void (*add_lags)(const Sources& sources, std::size_t vectors, std::byte* to) noexcept;

  // to_codes() replaces words by codes of a grid, and from_codes() does the reverse. to_codes() writes the
  // residuals of the codes as well, which saves a pass of subtract_lags(), and returns false if a word would
  // be read as a code. Null for words of one and two bytes.
  bool (*to_codes)(const std::byte* words, std::size_t vectors, const Grid& grid, std::byte* codes,
                   const ResidualOutput& residuals) noexcept;
  void (*from_codes)(const std::byte* codes, std::size_t vectors, const Grid& grid,
                     std::byte* words) noexcept;
};

struct KernelSet {
  template <class Set>
  static const KernelSet& with() noexcept;  // Set: an instruction set of compressor/simd

  const char* name;
  bool (*supported)() noexcept;
  Kernels words[4];  // for words of 1, 2, 4 and 8 bytes

  const Kernels& for_word_bytes(std::size_t word_bytes) const noexcept {
    return words[std::countr_zero(word_bytes)];
  }
};

// Returns all sets of this build; see built_kernels.
std::span<const KernelSet* const> kernel_sets() noexcept;

}  // namespace taut::mpc

// Payload format of the planes codec: constants and record headers. The format is specified in spec.md beside
// this file.
//
//   payload = index: u32 offset[chunks + 1], in 4-byte words from the end of the index
//           | records, one a chunk of 4096 values; offset[i] == offset[i + 1]: a chunk of zeros, no record
//   record  = u8 flags | u8 0 | u16 plane_bytes | base (i32; i64 when wide)
//           | planes (plane_bytes) | widths | padding to 4 | runs | layers
//   block   = 8 consecutive differences as bit planes: width bytes, sign plane first;
//             bit j of a byte is value j
#pragma once

#include <algorithm>
#include <array>

#include "compressor/base/unaligned.hpp"
#include "compressor/frame/frame.hpp"
#include "compressor/values/slice.hpp"

namespace taut::planes {

inline constexpr std::size_t block_values = 8;
inline constexpr std::size_t chunk_values = 4096;
inline constexpr std::size_t chunk_blocks = chunk_values / block_values;
inline constexpr std::size_t group_values = 64;  // values that a kernel processes at a time
inline constexpr std::size_t group_blocks = group_values / block_values;
inline constexpr std::size_t max_count = max_frame_values;  // values in a frame
inline constexpr std::size_t overrun = 64;  // kernels may read and write this many bytes past a record

// Bits of |q| of one addend in a small, a large and a wide chunk. A wide chunk has 64-bit integers: float64
// under a tiny bound, or a sum of so many addends that fits_narrow() is false.
inline constexpr int small_bits = 14, large_bits = 22, wide_bits = 43;
// A float64 chunk becomes wide if it then has fewer exact values, by more than this number.
inline constexpr std::uint32_t wide_threshold = 64;
inline constexpr int narrow_sum_bits = 30;  // |sum of q| stays below 2^30 in a record that is not wide

enum RecordFlags : std::uint8_t {
  wide = 1,           // base and differences have 64 bits
  has_planes = 2,     // planes and widths follow the base
  dense = 4,          // every block has a width entry (else: a bitmap of the blocks that have one)
  byte_widths = 8,    // width entries are bytes (else nibbles: every width is at most 15)
  has_runs = 16,      // runs of exact values
  has_layers = 32,    // raw layers: all values of the chunk, uncoded
  large = 64,         // some |q| of an addend may exceed 2^14
  known_flags = 127,  // all flags of frames without references
  two_bits = 128,     // with references only: the table names three widths, and entries have two bits; with
                      // dense: the bitmap of the blocks that have an entry is sparse
};

// Predictor within a chunk. An integer is coded as its difference from the integer before (delta), from the
// integer two before (pairs: for two interleaved series, such as complex numbers), or as the difference
// between its delta and the delta before (second). Integers before the first one are taken to equal the first
// one.
enum class Predictor : std::uint8_t { none = 0, delta = 1, pairs = 2, second = 3 };

// Returns the distance, in values, to the earlier integer that the predictor subtracts; 0: no prediction.
constexpr std::size_t predictor_distance(Predictor predictor) noexcept {
  return predictor == Predictor::second ? 1 : static_cast<std::size_t>(predictor);
}

// Start of a record: flags, number of bytes of planes, integer of the first value (0 without a predictor).
struct RecordHeader {
  std::uint8_t flags = 0;
  std::uint16_t plane_bytes = 0;
  std::int64_t base = 0;

  bool has(RecordFlags flag) const noexcept { return (flags & flag) != 0; }
  std::size_t bytes() const noexcept { return has(wide) ? 12 : 8; }
};

// Returns the bound that |sum of q| stays below for a sum of `addends` chunks with these flags.
constexpr std::uint64_t max_sum(std::uint8_t flags, std::uint32_t addends) noexcept {
  return std::uint64_t{addends} << ((flags & large) != 0 ? large_bits : small_bits);
}
// Returns true if such a sum fits a record that is not wide.
constexpr bool fits_narrow(std::uint8_t flags, std::uint32_t addends) noexcept {
  return max_sum(flags, addends) < std::uint64_t{1} << narrow_sum_bits;
}

inline constexpr std::size_t layer_head_bytes = 12;  // bytes before the values in a record of one layer

inline std::byte* write_record_header(std::byte* out, const RecordHeader& h) noexcept {
  out = store(out, h.flags);
  out = store(out, std::uint8_t{0});
  out = store(out, h.plane_bytes);
  return h.has(wide) ? store(out, h.base) : store(out, static_cast<std::int32_t>(h.base));
}

constexpr std::size_t blocks_of(std::size_t values) noexcept {
  return (values + block_values - 1) / block_values;
}
constexpr std::size_t groups_of(std::size_t values) noexcept {
  return (values + group_values - 1) / group_values;
}
constexpr std::size_t chunks_of(std::size_t values) noexcept {
  return (values + chunk_values - 1) / chunk_values;
}
// Returns `bytes`, rounded up to whole words of 4 bytes.
constexpr std::size_t whole_words(std::size_t bytes) noexcept { return (bytes + 3) / 4 * 4; }

// ---- The table of widths of a record: nibbles or bytes, either for all blocks or only for the blocks set in
// a bitmap; behind references also with names of widths, or with a sparse bitmap

// Width of every block of a chunk. The code that fills it zeroes the entries beyond the chunk's blocks.
struct Widths {
  alignas(64) std::uint8_t width[chunk_blocks];
};

// Form of the table, which two of the record's flags tell.
enum class TableForm : std::uint8_t {
  bitmap = 0,
  all_blocks = dense,
  names = two_bits,
  sparse_bitmap = dense | two_bits,
};
constexpr TableForm table_form(std::uint8_t flags) noexcept {
  return static_cast<TableForm>(flags & (dense | two_bits));
}

// Form and size of the table of a record.
struct WidthTable {
  std::uint8_t flags;  // dense, byte_widths, two_bits
  std::size_t bytes;
  std::uint16_t names = 0;  // of TableForm::names: three widths, a nibble each, the first one lowest
};

// Summary of the widths of a chunk, from which the form of its table follows.
struct WidthSummary {
  std::size_t sum = 0;    // bytes of the planes
  std::size_t coded = 0;  // blocks with a width above 0
  unsigned max_width = 0;
};

constexpr std::size_t bitmap_bytes(std::size_t blocks) noexcept { return (blocks + 7) / 8; }
constexpr std::size_t entry_bytes(std::size_t entries, std::uint8_t flags) noexcept {
  return (flags & byte_widths) != 0 ? entries : (entries + 1) / 2;
}

// Returns the smaller form of the table; dense if both forms have the same size.
constexpr WidthTable choose_table(const WidthSummary& summary, std::size_t blocks) noexcept {
  const std::uint8_t form = summary.max_width > 15 ? byte_widths : 0;
  const std::size_t all = entry_bytes(blocks, form),
                    some = bitmap_bytes(blocks) + entry_bytes(summary.coded, form);
  return all <= some ? WidthTable{static_cast<std::uint8_t>(form | dense), all} : WidthTable{form, some};
}

// A table with two bits a block: the number of a named width, or 3 for any other width, of which a list
// follows. Nibble i holds the entries of block i (low bits) and of block i + first_half().
inline constexpr std::size_t named_widths = 3, names_bytes = 2;
constexpr std::size_t first_half(std::size_t blocks) noexcept { return (blocks + 1) / 2; }
constexpr std::size_t two_bit_bytes(std::size_t blocks) noexcept { return (first_half(blocks) + 1) / 2; }

// Number of blocks with each width that can be named.
using WidthCounts = std::array<std::uint16_t, 16>;

// Tables with names are tried up to this average width of a block: above it, planes outweigh any table.
inline constexpr std::size_t max_average_of_named_widths = 8;

// Returns the table with names for the three most common widths. Of equally common widths the least comes
// first.
constexpr WidthTable choose_names(WidthCounts counts, const WidthSummary& summary,
                                  std::size_t blocks) noexcept {
  const std::uint8_t form = two_bits | (summary.max_width > 15 ? byte_widths : 0);
  WidthTable table{form, 0};
  std::size_t others = blocks;
  for (std::size_t k = 0; k < named_widths; ++k) {
    const auto commonest = std::max_element(counts.begin(), counts.end());
    table.names |= static_cast<std::uint16_t>((commonest - counts.begin()) << (4 * k));
    others -= *commonest;
    *commonest = 0;
  }
  table.bytes = names_bytes + two_bit_bytes(blocks) + entry_bytes(others, form);
  return table;
}

// A sparse bitmap: a bitmap of its `marked` bytes that are not 0, then these.
constexpr std::size_t sparse_bitmap_bytes(std::size_t blocks, std::size_t marked) noexcept {
  return bitmap_bytes(bitmap_bytes(blocks)) + marked;
}

// Returns the table with such a bitmap.
constexpr WidthTable sparse_table(const WidthSummary& summary, std::size_t blocks,
                                  std::size_t marked) noexcept {
  const auto form = static_cast<std::uint8_t>(static_cast<std::uint8_t>(TableForm::sparse_bitmap) |
                                              (summary.max_width > 15 ? byte_widths : 0));
  return {form, sparse_bitmap_bytes(blocks, marked) + entry_bytes(summary.coded, form)};
}
// Returns a lower bound of the bytes of such a table: the coded blocks share as few bytes of the bitmap as
// possible.
constexpr std::size_t min_sparse_table(const WidthSummary& summary, std::size_t blocks) noexcept {
  return sparse_table(summary, blocks, bitmap_bytes(summary.coded)).bytes;
}

// Sum and maximum of the widths in a table that was read.
struct WidthsRead {
  std::size_t sum = 0;
  unsigned max_width = 0;
  std::size_t bytes = 0;  // bytes of the table; 0: malformed, such as entries for blocks that do not exist
};

constexpr WidthsRead widths_read(const WidthSummary& summary, std::size_t bytes) noexcept {
  return {summary.sum, summary.max_width, bytes};
}

// Returns true if a bitmap of `blocks` bits has a bit set beyond them.
inline bool has_bits_beyond(const std::byte* bitmap, std::size_t blocks) noexcept {
  return blocks % 8 != 0 && (bitmap[blocks / 8] >> (blocks % 8)) != std::byte{0};
}

// Size of the largest table, plus the bytes that a kernel may read or write beyond it: names, two bits a
// block, and a byte for each block, as if none had a named width.
inline constexpr std::size_t max_table_bytes =
    names_bytes + two_bit_bytes(chunk_blocks) + chunk_blocks + overrun;
static_assert(names_bytes + two_bit_bytes(chunk_blocks) >=
              sparse_bitmap_bytes(chunk_blocks, bitmap_bytes(chunk_blocks)));

// Size of the largest record with planes and widths but neither runs nor layers, plus the overrun of a
// kernel: a header of a wide record, all planes, and the largest table.
template <class Int>
inline constexpr std::size_t max_plane_record = whole_words(12 + chunk_values * sizeof(Int) +
                                                            max_table_bytes);

}  // namespace taut::planes

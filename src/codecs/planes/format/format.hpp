// The stream of the planes codec: constants and record headers. Specified in spec.md beside this file.
//
//   payload = index: u32 offset[chunks + 1], in 4-byte words from the end of the index
//           | records, one a chunk of 4096 values; offset[i] == offset[i + 1]: a chunk of zeros without a
//           record
//   record  = u8 flags | u8 0 | u16 plane_bytes | base (i32; i64 when wide)
//           | planes (plane_bytes) | widths | padding to 4 | runs | layers
//   block   = 8 consecutive differences as bit planes: width bytes, sign plane first; bit j of a byte is
//   value j
#pragma once

#include <bit>
#include <cstring>
#include <utility>

#include "core/slice.hpp"
#include "core/unaligned.hpp"

namespace taut::planes {

inline constexpr std::size_t block_values = 8;
inline constexpr std::size_t chunk_values = 4096;
inline constexpr std::size_t chunk_blocks = chunk_values / block_values;
inline constexpr std::size_t group_values = 64;  // what a kernel handles at a time
inline constexpr std::size_t group_blocks = group_values / block_values;
inline constexpr std::size_t max_count = std::size_t{1} << 30;  // values in a frame
inline constexpr std::size_t overrun = 64;  // kernels may read and write this far past a record

// |q| of one addend: a small chunk keeps sums in range whatever the number of ranks; float32 results of a
// large one need care beyond 2^24; wide ones are 64-bit integers (float64 under a tiny bound, or sums of many
// large chunks).
inline constexpr int small_bits = 14, large_bits = 22, wide_bits = 43;
inline constexpr int narrow_sum_bits = 30;  // |sum of q| stays below 2^30 in a record that is not wide

enum RecordFlags : std::uint8_t {
  wide = 1,         // 64-bit base and differences
  has_planes = 2,   // planes and widths follow the base
  dense = 4,        // every block has a width entry (else: a bitmap of the blocks that have one)
  byte_widths = 8,  // width entries are bytes (else nibbles: every width is at most 15)
  has_runs = 16,    // exact values
  has_layers = 32,  // raw chunks
  large = 64,       // some |q| of an addend may exceed 2^14
  known_flags = 127,
};

// An integer is coded as its difference from the one before, or from the one before that: for two interleaved
// series, as of complex numbers; or (second) that difference as its difference from the one before. Those
// before the first are taken to equal it.
enum class Predictor : std::uint8_t { none = 0, delta = 1, pairs = 2, second = 3 };

// How far back the prediction is; 0: there is none.
constexpr std::size_t lag(Predictor predictor) noexcept {
  return predictor == Predictor::second ? 1 : static_cast<std::size_t>(predictor);
}

struct RecordHeader {
  std::uint8_t flags = 0;
  std::uint16_t plane_bytes = 0;
  std::int64_t base = 0;

  bool has(RecordFlags flag) const noexcept { return (flags & flag) != 0; }
  std::size_t bytes() const noexcept { return has(wide) ? 12 : 8; }
};

// |sum of q| after `addends` additions of chunks that are `large` or not stays below this.
constexpr std::uint64_t greatest_sum(std::uint8_t flags, std::uint32_t addends) noexcept {
  return std::uint64_t{addends} << ((flags & large) != 0 ? large_bits : small_bits);
}
constexpr bool fits_narrow(std::uint8_t flags, std::uint32_t addends) noexcept {
  return greatest_sum(flags, addends) < std::uint64_t{1} << narrow_sum_bits;
}

inline constexpr std::size_t layer_head_bytes =
    12;  // of a record of one layer: what stands before its values

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;

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
constexpr std::size_t whole_words(std::size_t bytes) noexcept { return (bytes + 3) / 4 * 4; }

// Largest record with planes and widths but neither runs nor layers, and room for a kernel's overrun.
template <class Int>
inline constexpr std::size_t max_plane_record = 12 + chunk_values * sizeof(Int) + chunk_blocks
                                                + chunk_blocks / 8 + 64 + overrun;

}  // namespace taut::planes

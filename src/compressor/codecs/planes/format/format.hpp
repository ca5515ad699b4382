// Stream format of the planes codec: constants and record headers. The format is specified in spec.md beside
// this file.
//
//   payload = index: u32 offset[chunks + 1], in 4-byte words from the end of the index
//           | records, one a chunk of 4096 values; offset[i] == offset[i + 1]: a chunk of zeros, no record
//   record  = u8 flags | u8 0 | u16 plane_bytes | base (i32; i64 when wide)
//           | planes (plane_bytes) | widths | padding to 4 | runs | layers
//   block   = 8 consecutive differences as bit planes: width bytes, sign plane first;
//             bit j of a byte is value j
#pragma once

#include <bit>
#include <cstring>
#include <utility>

#include "compressor/base/unaligned.hpp"
#include "compressor/frame/frame.hpp"
#include "compressor/values/slice.hpp"

namespace taut::planes {

inline constexpr std::size_t block_values = 8;
inline constexpr std::size_t chunk_values = 4096;
inline constexpr std::size_t chunk_blocks = chunk_values / block_values;
inline constexpr std::size_t group_values = 64;  // values that a kernel processes at a time
inline constexpr std::size_t group_blocks = group_values / block_values;
inline constexpr std::size_t max_count = most_frame_values;  // values in a frame
inline constexpr std::size_t overrun = 64;  // kernels may read and write this many bytes past a record

// Bits of |q| of one addend. Sums of small chunks stay in range for any number of ranks. Sums of large chunks
// in float32 need care beyond 2^24. Wide chunks have 64-bit integers (float64 under a tiny bound, or sums of
// many large chunks).
inline constexpr int small_bits = 14, large_bits = 22, wide_bits = 43;
inline constexpr int narrow_sum_bits = 30;  // |sum of q| stays below 2^30 in a record that is not wide

enum RecordFlags : std::uint8_t {
  wide = 1,         // base and differences have 64 bits
  has_planes = 2,   // planes and widths follow the base
  dense = 4,        // every block has a width entry (else: a bitmap of the blocks that have one)
  byte_widths = 8,  // width entries are bytes (else nibbles: every width is at most 15)
  has_runs = 16,    // exact values
  has_layers = 32,  // chunks of exact values
  large = 64,       // some |q| of an addend may exceed 2^14
  known_flags = 127,
};

// Predictor within a chunk. An integer is coded as its difference from the integer before (delta), from the
// integer two before (pairs: for two interleaved series, such as complex numbers), or as the difference
// between its delta and the delta before (second). Integers before the first one are taken to equal the first
// one.
enum class Predictor : std::uint8_t { none = 0, delta = 1, pairs = 2, second = 3 };

// Returns how far back the predictor reaches; 0: no prediction.
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

// Returns the bound that |sum of q| stays below for a sum of `addends` chunks with these flags.
constexpr std::uint64_t greatest_sum(std::uint8_t flags, std::uint32_t addends) noexcept {
  return std::uint64_t{addends} << ((flags & large) != 0 ? large_bits : small_bits);
}
constexpr bool fits_narrow(std::uint8_t flags, std::uint32_t addends) noexcept {
  return greatest_sum(flags, addends) < std::uint64_t{1} << narrow_sum_bits;
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
constexpr std::size_t whole_words(std::size_t bytes) noexcept { return (bytes + 3) / 4 * 4; }

// Size of the largest record with planes and widths but neither runs nor layers, plus the overrun of a
// kernel.
template <class Int>
inline constexpr std::size_t max_plane_record = 12 + chunk_values * sizeof(Int) + chunk_blocks
                                                + chunk_blocks / 8 + 64 + overrun;

}  // namespace taut::planes

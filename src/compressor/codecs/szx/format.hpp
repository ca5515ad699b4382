// Payload format of the szx codec: constants. The format is specified in spec.md beside this file. A value is
// coded as an integer, its multiple of the frame's step. The low of a block is the least of its integers. The
// base of a record is the least low of its blocks with a width (Code), or 0; the others have it as their low.
//
//   payload = index: u32 end[chunks], in 4-byte words from the end of the index
//           | records, one a chunk of 5120 values
//   record  = nothing (all values 0), or by its form (RecordForm):
//     raw       u8 form | u8 0 | u16 0 | values
//     constant  u8 form | u8 0 | u16 0 | base (i32; i64 of float64)
//     blocks    u8 form | u8 base_bytes | u16 0 | base
//               | codes, one byte a block | distances of the lows from base, base_bytes byte planes
//               | blocks | padding
//   block   = 64 values: the offsets of their integers from the block's low,
//             as byte planes and then bit planes
#pragma once

#include <type_traits>

#include "compressor/base/unaligned.hpp"
#include "compressor/frame/frame.hpp"
#include "compressor/values/half.hpp"
#include "compressor/values/slice.hpp"

namespace taut::szx {

inline constexpr std::uint8_t frame_id = 4;
inline constexpr std::size_t block_values = 64;
inline constexpr std::size_t chunk_values = 5120;
inline constexpr std::size_t chunk_blocks = chunk_values / block_values;
inline constexpr std::size_t max_count = max_frame_values;  // values in a frame
inline constexpr std::size_t overrun = 64;                  // bytes that kernels may write past a record

// Form of a record, its first byte.
enum class RecordForm : std::uint8_t {
  raw = 0,       // the chunk's values, unchanged
  constant = 1,  // all values equal the value of the base
  blocks = 2,
};

// Code of a block. Codes below `holed` are the width in bits of the block's offsets from its low; with width
// 0 all values equal the low's value. `holed` is added to a width if some values of the block, its holes, are
// all the same value without an integer (a fill value, NaN). The other codes have no width.
enum Code : std::uint8_t {
  holed = 128,
  uniform = 254,  // all values equal one value, stored unchanged
  raw = 255,      // the values, unchanged
};

template <class T>
using IntOf = std::make_signed_t<BitsOf<T>>;

// Returns true if the code has a width.
constexpr bool on_grid(std::uint8_t code) noexcept { return code < uniform; }
constexpr unsigned width_of(std::uint8_t code) noexcept { return code & (holed - 1u); }

template <class T>
inline constexpr std::size_t hole_bytes = block_values / 8 + sizeof(T);  // bitmap of the holes, their value

template <class T>
constexpr std::size_t block_bytes(std::uint8_t code) noexcept {
  if (!on_grid(code)) return code == raw ? block_values * sizeof(T) : sizeof(T);
  return width_of(code) * (block_values / 8) + (code >= holed ? hole_bytes<T> : 0);
}

template <class T>
inline constexpr std::size_t head_bytes = 4 + sizeof(T);  // for a record that is not raw
inline constexpr std::size_t raw_head_bytes = 4;

// Size of the largest record of blocks, plus the bytes that a kernel may write beyond it.
template <class T>
inline constexpr std::size_t max_record_bytes =
    head_bytes<T> + chunk_blocks*(1 + sizeof(T) + block_values * sizeof(T)) + overrun;

constexpr std::size_t blocks_of(std::size_t values) noexcept {
  return (values + block_values - 1) / block_values;
}
constexpr std::size_t chunks_of(std::size_t values) noexcept {
  return (values + chunk_values - 1) / chunk_values;
}
constexpr std::size_t whole_words(std::size_t bytes) noexcept { return (bytes + 3) / 4 * 4; }

}  // namespace taut::szx

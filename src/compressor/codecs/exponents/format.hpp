// Payload format of the exponents codec (lossless, float16 and bfloat16): constants and sizes. The exponent
// of a value, its symbol, gets a code of 1 to 4 bits if it is common, 4 more bits from a second code book if
// it is less common, and is otherwise stored raw after both codes. The format is specified in spec.md beside
// this file.
//
//   payload = index: u32 offset[chunks + 1], in 4-byte words from the end of the index
//           | records, one a chunk of 4096 values; offset[i] == offset[i + 1]: a chunk of zeros
//   record  = header | book | planes | second book | second planes | raw | spare planes | low bytes
//             | 0..3 bytes of 0
//             or the values themselves
#pragma once

#include <cstdint>

#include "compressor/base/unaligned.hpp"
#include "compressor/frame/frame.hpp"
#include "compressor/values/slice.hpp"

namespace taut::exponents {

inline constexpr std::uint8_t frame_id = 6;
inline constexpr std::size_t max_count = max_frame_values;  // values in a frame
inline constexpr std::size_t value_bytes = 2;
inline constexpr std::size_t chunk_values = 4096;
inline constexpr std::size_t chunk_bytes = chunk_values * value_bytes;
inline constexpr std::size_t group_values = 64;  // values that a kernel processes at a time
inline constexpr std::size_t index_unit = 4;     // bytes
// Consecutive chunks that share their code books, and the values of all these chunks that are sampled for
// them.
inline constexpr std::size_t chunks_sharing_books = 64, sampled_values = 1024;
// Minimum number of zeros in a chunk for which their low bytes are left out.
inline constexpr std::size_t min_zeros = 64;
// Kernels may read and write this many bytes past their part of a record.
inline constexpr std::size_t overrun = 64;

// Maximum width of the codes of the first book, and the width of those of the second book, in bits.
inline constexpr unsigned max_width = 4, second_width = 4;

constexpr std::size_t groups_of(std::size_t values) noexcept {
  return (values + group_values - 1) / group_values;
}
constexpr std::size_t chunks_of(std::size_t values) noexcept {
  return (values + chunk_values - 1) / chunk_values;
}
constexpr std::size_t plane_bytes(std::size_t groups, unsigned width) noexcept {
  return groups * width * sizeof(std::uint64_t);
}

// Returns the number of spare bits of a value: the bits of its high byte (see SplitValues) that are not part
// of the exponent.
constexpr unsigned spare_bits(DType type) noexcept { return type == DType::f16 ? 3 : 0; }

struct RecordHeader {
  enum Flags : std::uint8_t { omits_zero_low_bytes = 1 };  // values with symbol 0 are 0 and have no low byte

  std::uint8_t width = 0;  // bits of a code in the first book
  std::uint8_t flags = 0;
  std::uint16_t escapes = 0;    // symbols that the first book lacks
  std::uint16_t raw = 0;        // symbols that the second book lacks too
  std::uint16_t low_bytes = 0;  // number of low bytes
};
static_assert(sizeof(RecordHeader) == 8);

// Returns the number of symbols in a book whose codes have this width.
constexpr std::size_t symbols_of(unsigned width) noexcept { return (std::size_t{1} << width) - 1; }

inline constexpr std::size_t max_groups = chunk_values / group_values;
inline constexpr std::size_t max_record_bytes =
    sizeof(RecordHeader) + symbols_of(max_width) + symbols_of(second_width) +
    plane_bytes(max_groups, max_width + second_width + 3) + 2 * chunk_values + index_unit + overrun;

}  // namespace taut::exponents

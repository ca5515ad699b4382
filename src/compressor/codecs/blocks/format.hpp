// Format of the blocks codec: constants and sizes. Each block of 64 values has a scale of 16 bits, and each
// value a small integer; value = integer * scale. The format is specified in spec.md beside this file.
//
//   payload = scales: u16[blocks], padded with zeros to a multiple of 16 bytes
//           | codes: 8 * bits bytes a block
#pragma once

#include <cstddef>
#include <cstdint>

#include "compressor/frame/frame.hpp"

namespace taut::blocks {

inline constexpr std::uint8_t frame_id = 7;
inline constexpr std::size_t block_values = 64;
inline constexpr std::size_t max_count = max_frame_values;
inline constexpr unsigned rates[] = {8, 6, 4};  // bits of a code, the rates B of block:B

// Flag in the top bit of a scale: the block has NaN or infinities, and its extreme codes stand for them.
inline constexpr std::uint16_t has_specials = 0x8000;
inline constexpr std::uint16_t infinite_scale = 0x7F80;  // infinity of bfloat16; all scales are below it

constexpr std::size_t blocks_of(std::size_t values) noexcept {
  return (values + block_values - 1) / block_values;
}
constexpr std::size_t scales_bytes(std::size_t blocks) noexcept { return (2 * blocks + 15) / 16 * 16; }
// Returns the bytes of the codes of a block.
constexpr std::size_t code_bytes(unsigned bits) noexcept { return block_values / 8 * bits; }
constexpr std::size_t payload_bytes(std::size_t values, unsigned bits) noexcept {
  return scales_bytes(blocks_of(values)) + blocks_of(values) * code_bytes(bits);
}

// Returns the greatest integer of a code. Codes are two's complement; -greatest - 1 stands for NaN.
constexpr int max_code(unsigned bits) noexcept { return (1 << (bits - 1)) - 1; }

}  // namespace taut::blocks

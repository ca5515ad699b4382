// Arithmetic of the blocks format: scales, codes, and the values of codes. Processors and GPUs share it.
#pragma once

#include <bit>
#include <limits>

#include "compressor/codecs/blocks/format.hpp"
#include "compressor/values/half.hpp"

namespace taut::blocks {

inline constexpr std::uint32_t infinity_bits = 0x7F800000;  // magnitude_bits() of an infinity

// Returns the bits of |x|. They are above infinity_bits for a NaN.
constexpr std::uint32_t magnitude_bits(float x) noexcept {
  return std::bit_cast<std::uint32_t>(x) & ~0u >> 1;
}

// Returns the greatest finite number of a type.
template <class T>
constexpr float max_finite() noexcept {
  if constexpr (std::is_same_v<T, f16>)
    return 65504;
  else if constexpr (std::is_same_v<T, bf16>)
    return std::bit_cast<float>(0x7F7F0000u);
  else
    return std::numeric_limits<float>::max();
}

// Returns the number of T nearest to x. |x| is at most max_finite<T>(), or infinite, or x is a NaN whose low
// 16 bits are 0.
template <class T>
constexpr T rounded_to(float x) noexcept {
  if constexpr (std::is_same_v<T, bf16>) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return bf16::of_bits(static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16));
  } else {
    return static_cast<T>(x);
  }
}

// Returns the value of a scale: its bits are those of a bfloat16.
constexpr float scale_value(std::uint32_t scale) noexcept { return std::bit_cast<float>(scale << 16); }

// Returns the scale of a block whose greatest magnitude is `max`: max / max_code, rounded up to bfloat16, and
// above 0 if `max` is.
constexpr std::uint16_t scale_of(float max, int max_code) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(max / static_cast<float>(max_code));
  const std::uint32_t scale = (bits + 0xFFFF) >> 16;
  return static_cast<std::uint16_t>(scale == 0 && max > 0 ? 1 : scale);
}

// Constant whose addition rounds a number of at most 2^22 to the nearest integer: the low bits of the sum are
// the integer.
inline constexpr float rounding_constant = 0x1.8p23F;

// Returns the code of a finite number: x / scale, rounded to the nearest integer.
constexpr std::uint8_t code_of(float x, float scale) noexcept {
  return static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(x / scale + rounding_constant));
}

// Returns the code of a number in a block with NaN or infinities. `max_code`: max_code() of the rate.
constexpr std::uint8_t code_or_special(float x, std::uint16_t scale, int max_code) noexcept {
  if (magnitude_bits(x) > infinity_bits) return static_cast<std::uint8_t>(-max_code - 1);
  if (magnitude_bits(x) == infinity_bits) return static_cast<std::uint8_t>(x < 0 ? -max_code : max_code);
  return scale == 0 ? std::uint8_t{0} : code_of(x, scale_value(scale));
}

// Returns the value of a code in a block with NaN or infinities: NaN, an infinity, or x, the value that the
// code has in other blocks.
constexpr float value_or_special(int code, float x, int max_code) noexcept {
  if (code == -max_code - 1) return std::bit_cast<float>(0x7FC00000u);
  if (code == max_code) return std::bit_cast<float>(infinity_bits);
  return code == -max_code ? -std::bit_cast<float>(infinity_bits) : x;
}

// Returns code times scale, clamped to the finite numbers of T.
template <class T>
constexpr float product_of(int code, float scale) noexcept {
  constexpr float max = max_finite<T>();
  const float product = static_cast<float>(code) * scale, above = product < -max ? -max : product;
  return above > max ? max : above;
}

}  // namespace taut::blocks

// The arithmetic of the format: scales, codes, and what a code stands for. Processors and GPUs share it.
#pragma once

#include <bit>
#include <limits>

#include "compressor/codecs/blocks/format.hpp"
#include "compressor/values/half.hpp"

namespace taut::blocks {

inline constexpr std::uint32_t infinite_size = 0x7F800000;  // bits of an infinity without its sign

// Returns the bits of a number without its sign. Those of a NaN are above infinite_size.
constexpr std::uint32_t size_bits(float x) noexcept { return std::bit_cast<std::uint32_t>(x) & ~0u >> 1; }

// Returns the greatest finite number of a type.
template <class T>
constexpr float greatest_of() noexcept {
  if constexpr (std::is_same_v<T, f16>)
    return 65504;
  else if constexpr (std::is_same_v<T, bf16>)
    return std::bit_cast<float>(0x7F7F0000u);
  else
    return std::numeric_limits<float>::max();
}

// Returns the number of T next to x, which is at most the greatest one, infinite, or a NaN without low bits.
template <class T>
constexpr T rounded_to(float x) noexcept {
  if constexpr (std::is_same_v<T, bf16>) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return bf16::of_bits(static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16));
  } else {
    return static_cast<T>(x);
  }
}

constexpr float scale_value(std::uint32_t scale) noexcept { return std::bit_cast<float>(scale << 16); }

// Returns the scale of a block whose greatest magnitude is `most`: the least scale of 8 significant bits by
// which `greatest` times the scale reaches `most`, and above 0 if `most` is.
constexpr std::uint16_t scale_of(float most, int greatest) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(most / static_cast<float>(greatest));
  const std::uint32_t scale = (bits + 0xFFFF) >> 16;
  return static_cast<std::uint16_t>(scale == 0 && most > 0 ? 1 : scale);
}

// Number whose addition rounds a number of at most 2^22 to an integer, which the low bits then are.
inline constexpr float rounding = 0x1.8p23F;

constexpr std::uint8_t code_of(float x, float scale) noexcept {
  return static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(x / scale + rounding));
}

// Returns the code of a number in a block with NaN or infinities. `greatest`: see greatest_code.
constexpr std::uint8_t code_or_special(float x, std::uint16_t scale, int greatest) noexcept {
  if (size_bits(x) > infinite_size) return static_cast<std::uint8_t>(-greatest - 1);
  if (size_bits(x) == infinite_size) return static_cast<std::uint8_t>(x < 0 ? -greatest : greatest);
  return scale == 0 ? std::uint8_t{0} : code_of(x, scale_value(scale));
}

// Returns the value of a code in a block with NaN or infinities: NaN, an infinity, or x, the value that the
// code has in other blocks.
constexpr float value_or_special(int code, float x, int greatest) noexcept {
  if (code == -greatest - 1) return std::bit_cast<float>(0x7FC00000u);
  if (code == greatest) return std::bit_cast<float>(infinite_size);
  return code == -greatest ? -std::bit_cast<float>(infinite_size) : x;
}

// Returns code times scale; the greatest number of T stands for all numbers beyond it.
template <class T>
constexpr float product_of(int code, float scale) noexcept {
  constexpr float most = greatest_of<T>();
  const float product = static_cast<float>(code) * scale, low = product < -most ? -most : product;
  return low > most ? most : low;
}

}  // namespace taut::blocks

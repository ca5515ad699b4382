// Number types of 16 bits (halves): f16, IEEE 754 binary16, and bf16, bfloat16, the upper half of a binary32.
// The types hold bits only; arithmetic is done in float or double.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace taut {

// Layout of a floating-point number: sign, exponent, fraction.
struct FloatLayout {
  int exponent_bits, fraction_bits;
  constexpr int bias() const noexcept { return (1 << (exponent_bits - 1)) - 1; }
};

// Unsigned integer with as many bits as a number of 16, 32 or 64 bits.
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;

// Returns `yes` if the condition holds, otherwise `no`. Masks select the number, because with the conditional
// operator GCC 12 computes one of the two numbers behind a branch, and does not vectorise the loop.
template <class Bits>
constexpr Bits chosen(bool condition, Bits yes, Bits no) noexcept {
  return no ^ ((yes ^ no) & (Bits{0} - Bits{condition}));
}

// Returns the nearest number of the 16-bit layout `To`, ties to even. A NaN keeps its sign and its upper bits
// and becomes quiet. A number that rounds beyond the greatest one becomes an infinity. Every operation is
// exact, so that the rounding mode does not matter. There are no branches, and shifts are by constants only,
// so that compilers vectorize the code.
template <FloatLayout To, class Float>
constexpr std::uint16_t narrowed(Float value) noexcept {
  using Bits = BitsOf<Float>;
  constexpr FloatLayout from = sizeof(Float) == 8 ? FloatLayout{11, 52} : FloatLayout{8, 23};
  constexpr int dropped_bits = from.fraction_bits - To.fraction_bits;
  constexpr int bias_difference = from.bias() - To.bias();
  constexpr Bits infinity = ((Bits{1} << To.exponent_bits) - 1) << To.fraction_bits;
  constexpr Bits source_infinity = ((Bits{1} << from.exponent_bits) - 1) << from.fraction_bits;

  const Bits bits = std::bit_cast<Bits>(value), magnitude = bits & ~Bits{0} >> 1;
  const Bits rebiased = magnitude - (Bits{bias_difference} << from.fraction_bits);
  const Bits tie_to_even = (Bits{1} << (dropped_bits - 1)) - 1 + (rebiased >> dropped_bits & 1);
  Bits result = std::min((rebiased + tie_to_even) >> dropped_bits, infinity);
  if constexpr (bias_difference > 0) {  // below the least normal number: multiples of the least denormal one
    constexpr Bits least_normal = Bits{bias_difference + 1} << from.fraction_bits;
    constexpr auto inverse = std::bit_cast<Float>(  // of the least denormal number
        Bits{2 * from.bias() - bias_difference - 1 + To.fraction_bits} << from.fraction_bits);
    const Float multiple = std::bit_cast<Float>(std::min(least_normal, magnitude)) * inverse;
    const auto integer = static_cast<std::int32_t>(multiple);
    const Float rest = multiple - static_cast<Float>(integer);
    const auto truncated = static_cast<Bits>(integer);
    const Bits round_up = Bits{rest > Float{0.5}} | (Bits{rest == Float{0.5}} & truncated);
    result = chosen(magnitude < least_normal, truncated + (round_up & 1), result);
  }
  const Bits nan = infinity | Bits{1} << (To.fraction_bits - 1) |
                   (magnitude & ((Bits{1} << from.fraction_bits) - 1)) >> dropped_bits;
  const Bits sign = bits >> (8 * sizeof(Float) - 16) & 0x8000;
  return static_cast<std::uint16_t>(sign | chosen(magnitude > source_infinity, nan, result));
}

struct f16 {
  static constexpr FloatLayout layout{5, 10};
  std::uint16_t bits;

  f16() = default;
  explicit constexpr f16(float x) noexcept : bits(narrowed<layout>(x)) {}
  explicit constexpr f16(double x) noexcept : bits(narrowed<layout>(x)) {}
  static constexpr f16 of_bits(std::uint16_t b) noexcept { return std::bit_cast<f16>(b); }

  explicit constexpr operator float() const noexcept {
    const std::uint32_t magnitude = bits & 0x7FFFu, sign = (bits & 0x8000u) << 16;
    const auto denormal =
        std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
    const std::uint32_t bias_difference =
        (112u << 23) << (magnitude >= 0x7C00);  // doubled for infinities and NaN: an exponent of all ones
    return std::bit_cast<float>(sign |
                                chosen(magnitude < 0x400, denormal, (magnitude << 13) + bias_difference));
  }
  explicit constexpr operator double() const noexcept {
    return static_cast<double>(static_cast<float>(*this));
  }
};

struct bf16 {
  static constexpr FloatLayout layout{8, 7};
  std::uint16_t bits;

  bf16() = default;
  explicit constexpr bf16(float x) noexcept : bits(narrowed<layout>(x)) {}
  explicit constexpr bf16(double x) noexcept : bits(narrowed<layout>(x)) {}
  static constexpr bf16 of_bits(std::uint16_t b) noexcept { return std::bit_cast<bf16>(b); }

  explicit constexpr operator float() const noexcept {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
  }
  explicit constexpr operator double() const noexcept {
    return static_cast<double>(static_cast<float>(*this));
  }
};

template <class T>
inline constexpr bool is_half = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;
template <class T>
inline constexpr bool is_real = std::is_floating_point_v<T> || is_half<T>;

// Writes a number n times. A half is written as an integer: compilers do not vectorise copies of a struct.
template <class T>
void fill(T* to, std::size_t n, T value) noexcept {
  if constexpr (is_half<T>) {
    const std::uint16_t bits = value.bits;
    for (std::size_t i = 0; i < n; ++i) to[i].bits = bits;
  } else {
    std::fill_n(to, n, value);
  }
}

// Type in which arithmetic on values of T is done.
template <class T>
using ComputedIn = std::conditional_t<is_half<T>, float, T>;

}  // namespace taut

// Values -> integers, x ~ q * step, so that |x - q * step| <= bound. Proof: docs/error-model.md.
#pragma once

#include <cmath>
#include <limits>

#include "codecs/planes/format.hpp"

namespace taut::planes {

// step is rounded towards zero to the type of the values; the margin of 2^-7 absorbs every rounding of a
// small or wide q. A bound whose step leaves [lowest, highest] is not coded at all: the values travel as they
// are.
template <class T>
struct StepRange;
template <>
struct StepRange<float> {
  static constexpr double lowest = 0x1p-120, highest = 0x1p100;
};
template <>
struct StepRange<double> {
  static constexpr double lowest = 0x1p-1000, highest = 0x1p960;
};

template <class T>
struct Quantiser {
  double bound = 0;
  T step = 0;     // 0: the bound cannot be coded
  T inverse = 0;  // 1 / step, rounded to T
  Predictor predictor = Predictor::delta;

  static Quantiser make(double bound, Predictor predictor) noexcept {
    Quantiser z{bound, 0, 0, predictor};
    const double wanted = std::min(2 * bound * (1 - 0x1p-7), StepRange<T>::highest);
    if (!(wanted >= StepRange<T>::lowest)) return z;
    z.step = static_cast<T>(wanted);
    if (z.step > wanted) z.step = std::nextafter(z.step, T{0});
    z.inverse = static_cast<T>(1 / static_cast<double>(z.step));
    return z;
  }
};

// Stands for the integer of a value that has to travel exactly.
template <class Int>
inline constexpr Int escaped = std::numeric_limits<Int>::min();

// A condition as a mask: where branches would stand, compilers do not vectorise.
constexpr std::uint64_t all_ones_if(bool condition) noexcept { return ~(std::uint64_t{condition} - 1); }

// q -> value, the same operations wherever it is done: one product in double, one rounding to the type.
template <class T>
T dequantise(std::int64_t q, T step) noexcept {
  return static_cast<T>(static_cast<double>(q) * static_cast<double>(step));
}

// Bits of the integer that one value may have.
template <class T>
inline constexpr int value_bits = sizeof(T) == 8 ? wide_bits : large_bits;

// |q| < 2^bits, or -2^bits.
constexpr bool within(std::int64_t q, int bits) noexcept { return (q ^ (q >> 63)) >> bits == 0; }

// Rounds |s| < 2^51 to the nearest integer, ties to even.
inline std::int64_t round_to_integer(double s) noexcept {
  return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(s + 0x1.8p52) -
                                   std::bit_cast<std::uint64_t>(0x1.8p52));
}

// The integer of a value whose frame holds it as it stands, if it is the multiple of the step that a decoder
// gives for that integer. Then it counts as the integer, in sums too: what a value comes to does not depend
// on how its chunk was coded.
template <class T>
bool on_grid(T value, double step, std::int64_t& q) noexcept {
  const double s = static_cast<double>(value) / step;
  if (!(std::abs(s) < 0x1p45)) return false;
  q = round_to_integer(s);
  return within(q, value_bits<T>) &&
         std::bit_cast<BitsOf<T>>(dequantise(q, static_cast<T>(step))) == std::bit_cast<BitsOf<T>>(value);
}

// What a value comes to: the multiple of its integer, or itself where it has to travel exactly.
template <class T>
T as_decoded(T x, const Quantiser<T>& z) noexcept {
  std::int64_t q = 0;
  if constexpr (sizeof(T) == 4) {  // the small range is quantised in the arithmetic of T
    const float s = x * z.inverse;
    if (std::abs(s) < 0x1p15f) {
      q = round_to_integer(static_cast<double>(s));
      if (within(q, small_bits)) return dequantise(q, z.step);
    }
  }
  const double s = static_cast<double>(x) * (1 / static_cast<double>(z.step));
  if (!(std::abs(s) < 0x1p45)) return x;
  q = round_to_integer(s);
  const T back = dequantise(q, z.step);
  const bool good =
      within(q, value_bits<T>) && std::abs(static_cast<double>(x) - static_cast<double>(back)) <= z.bound;
  return good ? back : x;
}

}  // namespace taut::planes

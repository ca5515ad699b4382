// A Grid is the set of values that a decoder gives: the multiples of one step, the same for every block of
// every frame of a bound.
// Why |x - x'| <= bound, and why minima and maxima stay within one bound: src/compressor/codecs/szx/bound.md.
#pragma once

#include <algorithm>
#include <cmath>

#include "compressor/codecs/szx/format.hpp"
#include "compressor/values/number_range.hpp"

namespace taut::szx {

// Limits of the grid for a value type. A bound whose step would be below `lowest` is not coded; a bound whose
// step would be above `highest` is replaced by a smaller one. |q| of a coded value is below 2^integer_bits,
// and an offset is below twice that. Products with a step of four bits are then exact, and so is every
// computation of a decoder. Offsets of up to direct_bits need no correction (see `offset`).
template <class T>
struct Limits;
template <>
struct Limits<float> {
  static constexpr double lowest = 0x1p-120, highest = 0x1p100;
  static constexpr int integer_bits = 19, direct_bits = 14;
};
template <>
struct Limits<double> {
  static constexpr double lowest = 0x1p-1000, highest = 0x1p960;
  static constexpr int integer_bits = 42, direct_bits = 43;
};

template <class T>
inline constexpr int max_width = Limits<T>::integer_bits + 1;

template <class T>
inline constexpr std::int64_t greatest_integer = (std::int64_t{1} << Limits<T>::integer_bits) - 1;

// The share of a step that the roundings of an encoder may take up.
inline constexpr double step_margin = 0x1p-7;

template <class T>
struct Grid {
  double bound = 0;         // kept by encoders: the requested bound or less
  T step = 0;               // m 2^k with 8 <= m <= 15; 0: the bound cannot be coded
  T inverse = 0;            // 1 / step, rounded to T
  bool exact_bits = false;  // packed integers have no integer on the grid

  // Returns the grid with the coarsest step that leaves a margin for the roundings of an encoder. The step is
  // above the bound. The bound is at most what the highest step allows.
  static Grid make(double asked) noexcept {
    using L = Limits<T>;
    const double bound = std::min(asked, L::highest / 2), wanted = 2 * bound * (1 - step_margin);
    if (!(wanted >= L::lowest)) return {bound, 0, 0};
    int exponent = 0;
    const double mantissa = std::frexp(wanted, &exponent);
    return with_step(bound, static_cast<T>(std::ldexp(std::floor(mantissa * 16), exponent - 4)));
  }
  static Grid with_step(double bound, T step) noexcept { return {bound, step, static_cast<T>(1 / step)}; }

  // Returns true if products with this step are exact, so that a decoder may rely on them.
  static bool is_step(double step) noexcept {
    int exponent = 0;
    const double sixteenths = std::frexp(step, &exponent) * 16;
    return step >= Limits<T>::lowest / 2 && step <= Limits<T>::highest &&
           sixteenths == std::floor(sixteenths);
  }

  // Returns the value of integer q: exact for |q| <= 2^(integer_bits + 1), rounded once for others.
  T value(IntOf<T> q) const noexcept { return static_cast<T>(q) * step; }
};

// Returns the nearest integer of |s| < 2^22 (2^51), ties to even.
inline std::int32_t nearest(float s) noexcept {
  return std::bit_cast<std::int32_t>(s + 0x1.8p23f) - std::bit_cast<std::int32_t>(0x1.8p23f);
}
inline std::int64_t nearest(double s) noexcept {
  return std::bit_cast<std::int64_t>(s + 0x1.8p52) - std::bit_cast<std::int64_t>(0x1.8p52);
}

// Returns true if x has an integer; always false for NaN and infinities.
template <class T>
bool served(T x, double inverse) noexcept {
  return std::abs(static_cast<double>(x) * inverse) < static_cast<double>(greatest_integer<T>);
}

// Returns true if x has an integer; false for packed integers if the grid keeps them exact.
template <class T>
bool served(T x, double inverse, const Grid<T>& grid) noexcept {
  return served(x, inverse) && !(grid.exact_bits && is_packed(x));
}

// A block on the grid: its values decode to multiples low .. low + span. Both are integers below 2^52 in
// double.
struct Interval {
  double low, span;
};

// Returns the shortest interval within the bound of all values from `least` to `greatest`, which both have
// integers. At either end one multiple is saved if the bound allows; this makes most blocks constant. If a
// rounded difference is below the bound, so is the exact difference.
inline Interval interval(double least, double greatest, double step, double inverse, double bound) noexcept {
  constexpr double rounder = 0x1.8p52;
  double low = least * inverse + rounder - rounder, high = greatest * inverse + rounder - rounder;
  low = (low + 1) * step - least < bound ? low + 1 : low;
  high = greatest - (high - 1) * step < bound ? high - 1 : high;
  return {low, high > low ? high - low : 0};
}

// Returns the bits of an integer that is held in double.
inline std::int64_t bit_width(double whole) noexcept {
  return (std::bit_cast<std::int64_t>(whole + 0.5) >> 52) - 1022;
}

// Returns the integer of x relative to low, for mu = low * step, before it is clamped to 0 .. span.
// `corrected`: required for offsets of more than direct_bits, where the product may be off by one.
template <bool corrected, class T>
IntOf<T> offset(T x, T mu, const Grid<T>& grid) noexcept {
  const IntOf<T> o = nearest((x - mu) * grid.inverse);
  if constexpr (!corrected) return o;
  const T rest = x - (mu + grid.value(o)), half = grid.step / 2;
  return o + (rest > half ? 1 : 0) - (rest < -half ? 1 : 0);
}

}  // namespace taut::szx

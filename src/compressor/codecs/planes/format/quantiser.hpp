// Quantisation of values to integers, x ~ q * step, with |x - q * step| <= bound. Proof: docs/error-model.md.
#pragma once

#include <cmath>
#include <limits>

#include "compressor/codecs/planes/format/format.hpp"
#include "compressor/values/bound.hpp"
#include "compressor/values/number_range.hpp"

namespace taut::planes {

// Range of steps for a value type. A bound whose step is below `min` is not coded: the values are stored
// unchanged. A bound whose step is above `max` is coded with `max`.
template <class T>
struct StepRange;
template <>
struct StepRange<float> {
  static constexpr double min = 0x1p-120, max = 0x1p100;
};
template <>
struct StepRange<double> {
  static constexpr double min = 0x1p-1000, max = 0x1p960;
};
// The highest step for halves is the spacing of the greatest numbers, so that no multiple next to a number
// exceeds them. All f16 values are multiples of the lowest step, which therefore also satisfies any smaller
// bound.
template <>
struct StepRange<f16> {
  static constexpr double min = 0x1p-24, max = 0x1p5;
};
template <>
struct StepRange<bf16> {
  static constexpr double min = 0x1p-120, max = 0x1p120;
};

// Returns the greatest power of two that is not above a normal x > 0.
inline double power_of_two_below(double x) noexcept {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0} << 52);
}

// Returns the greatest number of T that is not above x > 0.
template <class T>
T rounded_down(double x) noexcept {
  const T nearest = static_cast<T>(x);
  return nearest > x ? std::nextafter(nearest, T{0}) : nearest;
}

// Returns true if every number of T that is a multiple of 1 / parts decodes to itself. Sums of such numbers
// are such multiples too, and decode to themselves. Proof: docs/error-model.md, theorem 1b.
template <class T>
bool keeps_round_numbers(T step, double parts) noexcept {
  return std::abs(std::fma(parts, static_cast<double>(step), -1.0)) <= std::numeric_limits<T>::epsilon() / 4;
}

// Returns true if 1 decodes to itself.
template <class T>
bool keeps_one(T step, double parts) noexcept {
  return static_cast<T>(parts * static_cast<double>(step)) == 1;
}

// Share of the greatest step by which a step for round numbers may be smaller: log2(1 + 2^-6) = 0.023 bits a
// value.
inline constexpr double round_step_loss = 0x1p-6;

// Returns a step up to `max_step`, which is 1 / parts for a whole number of parts, so that round numbers stay
// round. At best the number of parts is a multiple of a power of two: then 0.5, 0.25 and so on are multiples
// of the step as well. Where all such steps lose more than round_step_loss, the step is `max_step`, rounded
// down.
template <class T>
T round_step(double max_step) noexcept {
  const double min_parts = 1 / max_step, max_parts = min_parts * (1 + round_step_loss);
  const double max_power = std::max(1.0, power_of_two_below(min_parts) * 0x1p-7);
  for (const auto keeps : {keeps_round_numbers<T>, keeps_one<T>})
    for (double power = max_power; power >= 1; power /= 2)
      for (double parts = std::ceil(min_parts / power) * power; parts <= max_parts; parts += power) {
        const T step = static_cast<T>(1 / parts);
        if (step <= max_step && keeps(step, parts)) return step;
      }
  return rounded_down<T>(max_step);
}

// Returns true for a step that a frame may have. Step 0: the bound is too small to be coded, so every chunk
// is stored unchanged.
template <class T>
bool step_fits(double step) noexcept {
  if (step == 0) return true;
  return step >= StepRange<T>::min && step <= StepRange<T>::max &&
         static_cast<double>(static_cast<ComputedIn<T>>(step)) == step &&
         (!is_half<T> || step == power_of_two_below(step));
}

// Conversion between values of type T and integers, for one bound.
template <class T>
struct Quantiser {
  using Step = ComputedIn<T>;

  double bound = 0;
  Step step = 0;     // 0: the bound cannot be coded
  Step inverse = 0;  // 1 / step, rounded
  Predictor predictor = Predictor::delta;
  bool snaps = false;       // all values decode to multiples of the step, even those without an integer
  bool exact_bits = false;  // packed integers are stored exactly: they have no integer and do not snap

  // Chooses the step. For snapping bounds, and for halves under any bound, the step is the greatest power of
  // two up to twice the bound, and all products are exact. The margin of 2^-7 of other steps absorbs every
  // rounding of a small or wide q. A large q of float32 rounds by more: there, encoders compare the decoded
  // value with the bound (unchecked_bits).
  static Quantiser make(const Bound& bound, Predictor predictor,
                        PackedBits bits = PackedBits::rounded) noexcept {
    Quantiser z{bound.value,
                0,
                0,
                predictor,
                bound.kind == Bound::Kind::snap,
                bits == PackedBits::exact && NumberRange<T>::has_limits};
    const bool power_of_two = z.snaps || is_half<T>;
    double wanted = std::min(power_of_two ? 2 * z.bound : 2 * z.bound * (1 - 0x1p-7), StepRange<T>::max);
    if (std::is_same_v<T, f16> && z.bound > 0) wanted = std::max(wanted, StepRange<T>::min);
    if (!(wanted >= StepRange<T>::min)) return z;
    z.step = power_of_two ? static_cast<Step>(power_of_two_below(wanted)) : round_step<Step>(wanted);
    z.inverse = static_cast<Step>(1 / static_cast<double>(z.step));
    return z;
  }

  // Returns the quantiser of a frame's step and bound, for values that are not packed integers.
  static Quantiser of_frame(double step, double bound, Predictor predictor = Predictor::delta) noexcept {
    return {bound, static_cast<Step>(step), static_cast<Step>(step == 0 ? 0 : 1 / step), predictor};
  }
};

// Stands in the place of the integer of a value that has to be stored exactly.
template <class Int>
inline constexpr Int escaped = std::numeric_limits<Int>::min();

// Returns a condition as a mask, in place of a branch: compilers do not vectorise branches.
constexpr std::uint64_t all_ones_if(bool condition) noexcept { return ~(std::uint64_t{condition} - 1); }

// Converts q to its value. Every path uses these operations: one product in double, one rounding to the type.
template <class T>
T dequantise(std::int64_t q, double step) noexcept {
  return static_cast<T>(static_cast<double>(q) * step);
}

// Bits of the greatest |q| that a value of type T may have.
template <class T>
inline constexpr int value_bits = sizeof(T) == 8 ? wide_bits : large_bits;

// Bits of the greatest |q| that need no comparison of the decoded value with the bound: the margin of the
// step covers its rounding (docs/error-model.md). Integers of halves never need one.
template <class T>
inline constexpr int unchecked_bits = std::is_same_v<T, float> ? 16 : large_bits;

// Returns true if |q| < 2^bits or q = -2^bits.
constexpr bool within(std::int64_t q, int bits) noexcept { return (q ^ (q >> 63)) >> bits == 0; }

// Rounds |s| < 2^51 to the nearest integer, ties to even.
inline std::int64_t round_to_integer(double s) noexcept {
  return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(s + 0x1.8p52) -
                                   std::bit_cast<std::uint64_t>(0x1.8p52));
}

// Returns true and sets q if an exactly stored value equals the value that a decoder computes for some
// integer q. Such a value counts as the integer, in sums too, so that a decoded value does not depend on how
// its chunk was coded.
template <class T>
bool on_grid(T value, double step, std::int64_t& q) noexcept {
  const double s = static_cast<double>(value) / step;
  if (!(std::abs(s) < 0x1p45)) return false;
  q = round_to_integer(s);
  return within(q, value_bits<T>) &&
         std::bit_cast<BitsOf<T>>(dequantise<T>(q, step)) == std::bit_cast<BitsOf<T>>(value);
}

// Returns the multiple of a power of two that is nearest to x. A value beyond 2^52 multiples already is a
// multiple.
template <class T>
T nearest_multiple(T x, double step) noexcept {
  const double s = static_cast<double>(x) / step;
  return std::abs(s) < 0x1p52 ? static_cast<T>(std::nearbyint(s) * step) : x;
}

// Returns the decoded form of a value: the multiple for its integer, or the value that is stored exactly.
template <class T>
T as_decoded(T x, const Quantiser<T>& z) noexcept {
  if (z.exact_bits && is_packed(x)) return x;
  std::int64_t q = 0;
  if constexpr (std::is_same_v<T, float>) {  // the small range is quantised in the arithmetic of T
    const float s = x * z.inverse;
    if (std::abs(s) < 0x1p15f) {
      q = round_to_integer(static_cast<double>(s));
      if (within(q, small_bits)) return dequantise<T>(q, z.step);
    }
  }
  const double s = static_cast<double>(x) * (1 / static_cast<double>(z.step));
  if (std::abs(s) < 0x1p45) {
    q = round_to_integer(s);
    const T back = dequantise<T>(q, z.step);
    if (within(q, value_bits<T>) && std::abs(static_cast<double>(x) - static_cast<double>(back)) <= z.bound)
      return back;
  }
  return z.snaps ? nearest_multiple(x, z.step) : x;
}

}  // namespace taut::planes

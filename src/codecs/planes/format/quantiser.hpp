// Values -> integers, x ~ q * step, so that |x - q * step| <= bound. Proof: docs/error-model.md.
#pragma once

#include <cmath>
#include <limits>

#include "codecs/planes/format/format.hpp"
#include "core/bound.hpp"
#include "core/packed_bits.hpp"

namespace taut::planes {

// A bound whose step leaves [lowest, highest] is not coded at all below: the values travel as they are;
// above, highest serves.
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
// Halves: up to the spacing of the greatest numbers, so that no multiple next to a number is beyond them. All
// f16 are multiples of the lowest step, which serves any smaller bound too.
template <>
struct StepRange<f16> {
  static constexpr double lowest = 0x1p-24, highest = 0x1p5;
};
template <>
struct StepRange<bf16> {
  static constexpr double lowest = 0x1p-120, highest = 0x1p120;
};

// The greatest power of two that is not above a normal x > 0.
inline double power_of_two_below(double x) noexcept {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0} << 52);
}

template <class T>
struct Quantiser {
  using Step = ComputedIn<T>;

  double bound = 0;
  Step step = 0;     // 0: the bound cannot be coded
  Step inverse = 0;  // 1 / step, rounded
  Predictor predictor = Predictor::delta;
  bool snaps = false;       // every value comes to a multiple of the step, also one that has no integer
  bool exact_bits = false;  // packed integers have none, and do not

  // The step of a snapping bound, and of halves under any: the greatest power of two up to twice the bound.
  // All products are exact. Other steps are rounded towards zero to the type of the values; their margin of
  // 2^-7 absorbs every rounding of a small or wide q.
  static Quantiser make(const Bound& of, Predictor predictor,
                        PackedBits bits = PackedBits::rounded) noexcept {
    Quantiser z{of.value,
                0,
                0,
                predictor,
                of.kind == Bound::Kind::snap,
                bits == PackedBits::exact && NumberZone<T>::limited};
    const bool power_of_two = z.snaps || is_half<T>;
    double wanted = std::min(power_of_two ? 2 * z.bound : 2 * z.bound * (1 - 0x1p-7), StepRange<T>::highest);
    if (std::is_same_v<T, f16> && z.bound > 0) wanted = std::max(wanted, StepRange<T>::lowest);
    if (!(wanted >= StepRange<T>::lowest)) return z;
    if (power_of_two) wanted = power_of_two_below(wanted);
    z.step = static_cast<Step>(wanted);
    if (z.step > wanted) z.step = std::nextafter(z.step, Step{0});
    z.inverse = static_cast<Step>(1 / static_cast<double>(z.step));
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
T dequantise(std::int64_t q, double step) noexcept {
  return static_cast<T>(static_cast<double>(q) * step);
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
         std::bit_cast<BitsOf<T>>(dequantise<T>(q, step)) == std::bit_cast<BitsOf<T>>(value);
}

// The nearest multiple of a power of two. A value beyond 2^52 of them is one.
template <class T>
T nearest_multiple(T x, double step) noexcept {
  const double s = static_cast<double>(x) / step;
  return std::abs(s) < 0x1p52 ? static_cast<T>(std::nearbyint(s) * step) : x;
}

// What a value comes to: the multiple of its integer, or itself where it has to travel exactly.
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

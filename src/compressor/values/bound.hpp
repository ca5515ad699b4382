// Error bound: the greatest allowed difference between a value x and its decoded value x'.
#pragma once

#include <cstdint>

namespace taut {

struct Bound {
  // The numbers are stored in frames, except for `range` and `psnr`: these are resolved to `absolute` once
  // the range of the values is known.
  enum class Kind : std::uint8_t {
    exact = 0,      // x' = x
    absolute = 1,   // |x - x'| <= value
    snap = 2,       // as absolute, and x' is a multiple of the greatest power of two that allows the bound
    pointwise = 3,  // |x - x'| <= value * |x|
    rate = 4,       // `value` bits for each x; no bound on the error
    range = 5,      // |x - x'| <= value * (greatest - least of the finite values)
    psnr = 6,       // 20 log10(range / root of the mean square of x - x') >= value, in dB
  };

  Kind kind = Kind::exact;
  double value = 0;  // 0 for exact

  constexpr Bound() = default;
  constexpr Bound(Kind k, double v) : kind(k), value(v) {}
  constexpr Bound(double absolute) : kind(absolute == 0 ? Kind::exact : Kind::absolute), value(absolute) {}

  constexpr bool exact() const noexcept { return kind == Kind::exact; }
  friend constexpr bool operator==(const Bound&, const Bound&) = default;
};

// Treatment of integers packed into floating-point values (compressor/values/number_range.hpp): coded as the
// floating-point numbers that they read as, or preserved bit for bit.
enum class PackedBits : std::uint8_t { rounded, exact };

inline constexpr std::uint8_t frame_bound_kinds = 5;

}  // namespace taut

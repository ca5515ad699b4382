// What may be lost of a value x that comes back as x'.
#pragma once

#include <cstdint>

namespace taut {

struct Bound {
  // The numbers stand in frames. `range` and `psnr` do not: they become `absolute` once the values are known.
  enum class Kind : std::uint8_t {
    exact = 0,      // nothing
    absolute = 1,   // |x - x'| <= value
    snap = 2,       // the same, x' being a multiple of the greatest power of two that allows it
    pointwise = 3,  // |x - x'| <= value * |x|
    rate = 4,       // what is left in `value` bits for each x; no bound on the error
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

// What becomes of integers packed into floating-point values (core/packed_bits.hpp): they are treated as the
// numbers that they read as, or kept bit for bit.
enum class PackedBits : std::uint8_t { rounded, exact };

inline constexpr std::uint8_t frame_bound_kinds = 5;

}  // namespace taut

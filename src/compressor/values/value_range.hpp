// Range of a message's values, and conversion of relative bounds to absolute ones.
#pragma once

#include <limits>
#include <optional>

#include "compressor/values/bound.hpp"
#include "compressor/values/slice.hpp"

namespace taut {

struct ValueRange {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();  // below `least` if there is no finite value

  void merge(const ValueRange& other) noexcept;  // extends this range to the other one
};

// Returns the range of the finite values. Values equal to `fill` (as rounded to the type) are left out. A
// complex value counts as its two parts. Under PackedBits::exact packed integers do not count either.
ValueRange range_of(ConstSlice values, std::optional<double> fill,
                    PackedBits bits = PackedBits::rounded) noexcept;

// Returns the bound under which values of `type` are coded, given the bound of a policy: integers are coded
// without loss under every bound (docs/adr/0082).
constexpr Bound bound_for(DType type, Bound bound) noexcept {
  return info_of(type).family == Family::integer ? Bound{} : bound;
}

// Returns true if `bound` depends on the range of the values.
constexpr bool is_relative(Bound bound) noexcept {
  return bound.kind == Bound::Kind::range || bound.kind == Bound::Kind::psnr;
}

// Returns the absolute bound that a relative one means for this range, rounded down; exact if the range is 0
// or empty. Other bounds stay as they are.
//
// psnr: PSNR = 20 log10(range / rms error) [Tao et al., "Z-checker", IJHPCA 33 (2019), section 3]. The rms
// error is at most the greatest error, so the bound is range * 10^(-dB/20).
Bound resolved(Bound bound, const ValueRange& range) noexcept;

// Returns an absolute bound rounded down to a power of 2^(1/4), so that calls whose ranges differ a little
// get the same bound. Codecs then quantise them with equal steps, and their integers resemble each other.
// Other bounds stay as they are.
Bound rounded_for_equal_steps(Bound bound) noexcept;

}  // namespace taut

// The range of a message's values, which bounds relative to it are made of.
#pragma once

#include <limits>
#include <optional>

#include "core/bound.hpp"
#include "core/slice.hpp"

namespace taut {

struct ValueRange {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();  // below `least`: no finite value

  void merge(const ValueRange& other) noexcept;
};

// Of the finite values, those equal to `fill` (as rounded to the type) left out; of complex values, of all
// parts. Under PackedBits::exact packed integers do not count either.
ValueRange range_of(ConstSlice values, std::optional<double> fill,
                    PackedBits bits = PackedBits::rounded) noexcept;

// Whether `bound` is known only once the range of the values is.
constexpr bool is_relative(Bound bound) noexcept {
  return bound.kind == Bound::Kind::range || bound.kind == Bound::Kind::psnr;
}

// The absolute bound that a relative one comes to, rounded down; exact where the range is 0 or there is none.
// Others stay as they are.
//
// psnr: PSNR = 20 log10(range / rms error) [Tao et al., "Z-checker", IJHPCA 33 (2019), section 3], and the
// rms error is at most the greatest one: range * 10^(-dB/20).
Bound resolved(Bound bound, const ValueRange& range) noexcept;

}  // namespace taut

// Common unit of values: a power of two that all of them are multiples of. Counts, pixels, and other integers
// in an array of floating-point type have one. Sums of such values are exact while the integers are small.
#pragma once

#include "compressor/values/value_range.hpp"

namespace taut {

// Returns the greatest power of two that all values are multiples of, as `least`, and the greatest magnitude,
// as `greatest`. Ranges of several arrays merge to that of all their values. A complex value counts as two.
// `least` is infinity if all values are 0. It is 0, and `greatest` infinity, if there is no common unit that
// a sum without loss can use: some value is -0.0, infinite or NaN, the type is another than float32 and
// float64, or an integer needs more than 22 bits (float32) or 43 (float64). A few values decide first.
ValueRange common_unit_of(ConstSlice values) noexcept;
inline constexpr ValueRange no_common_unit{0, std::numeric_limits<double>::infinity()};

// Returns the bound under which frames that can be added hold values with these units exactly, and their sums
// too: a snapping bound whose step is the unit. The bound is exact, so that it names no step, if a sum of
// `addends` of the values may need rounding. All partial sums are exact as well: every order of additions
// gives the same bits.
Bound bound_of_exact_sums(DType type, const ValueRange& units, int addends) noexcept;

}  // namespace taut

// Common unit of values: a power of two that all of them are multiples of. Counts, pixels, and other integers
// in an array of floating-point type have one. Sums of such values are exact while the integers are small.
#pragma once

#include "compressor/values/value_range.hpp"

namespace taut {

// Returns the common unit of the values as `least` of a ValueRange, and their greatest magnitude as
// `greatest`: so that ValueRange::merge() gives both for the values of several arrays. A complex value counts
// as two. `least` is infinity if all values are 0. The result is no_common_unit if a sum without loss cannot
// use the unit: some value is -0.0, infinite or NaN, the type is neither float32 nor float64, or an integer
// needs more than 22 bits (float32) or 43 (float64). Samples of the values are tested first, which is enough
// for most arrays without a unit.
ValueRange common_unit_of(ConstSlice values) noexcept;
inline constexpr ValueRange no_common_unit{0, std::numeric_limits<double>::infinity()};

// Returns the bound under which frames that can be added hold values with these units exactly, and their sums
// too: a snap bound whose step is the unit. All partial sums are exact as well: every order of additions
// gives the same bits. Returns an exact bound, under which frames cannot be added, if a sum of `addends`
// values may need rounding.
Bound bound_of_exact_sums(DType type, const ValueRange& units, int addends) noexcept;

}  // namespace taut

// Detection of packed integers: integers whose bits a program has stored in an array of floating-point type,
// so that a lossy codec would change them. Small integers have the bits of subnormal numbers; large ones have
// exponents that jump from value to value. The test reads a sample of a message. docs/packed_integers.md
// explains the practice.
#pragma once

#include "compressor/values/slice.hpp"

namespace taut {

enum class PackedIntegers : std::uint8_t {
  none,   // the sample holds only numbers
  small,  // integers that is_packed() recognises, beside numbers or alone
  large,  // integers or text that is_packed() does not recognise
};

// Classifies a message by the exponents of its values. Two adjacent values are far apart if their exponents
// differ by at least 48 (float64: 128). `large`: at least one in 64 values is a number far from an adjacent
// number. `small`: there are values below the range of numbers, and most of them are far from the numbers
// beside them. Zeros, infinities, NaN and the greatest number of a piece (a fill value) are left out.
//
// A message is `large` as well if 15 in 16 of the values other than 0 are text (eight printable characters in
// a float64, four in a float32) or pairs of int32 that differ by less than 2^24, or if -0.0, which has the
// bits of the least integer, is beside small integers.
PackedIntegers find_packed_integers(ConstSlice values) noexcept;

}  // namespace taut

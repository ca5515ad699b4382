// Rounding of floating-point values to fewer mantissa bits, on their bit patterns. It serves bounds of kind
// `pointwise`, which policies call `pwrel`; src/compressor/codecs/mpc/bound.md explains why they hold.
#pragma once

#include "compressor/values/bound.hpp"
#include "compressor/values/dtype.hpp"

namespace taut::mpc {

// Parameters of the rounding: to nearest, ties to even, of values with a magnitude in [least_normal,
// least_normal + range). These are the normal values that do not round to infinity; all other values stay
// unchanged. Magnitudes are bit patterns, as integers of the type's size.
struct Rounding {
  unsigned dropped = 0;  // low mantissa bits that become 0; 0: no rounding
  std::uint64_t least_normal = 0, range = 0;

  // Keeps the fewest mantissa bits with |x - x'| <= bound * |x| for every finite x of a real type; bound > 0.
  // PackedBits::exact excludes packed integers from the rounded range.
  static Rounding within(double bound, DType type, PackedBits packed = PackedBits::rounded) noexcept;
};

// Rounds one value. All kernels use this formula.
template <class Word>
constexpr Word rounded(Word bits, const Rounding& r) noexcept {
  constexpr Word magnitude = static_cast<Word>(~Word{0}) >> 1;
  if (static_cast<Word>((bits & magnitude) - r.least_normal) >= r.range) return bits;
  const Word less_than_half = static_cast<Word>((Word{1} << (r.dropped - 1)) - 1);
  const Word even = bits >> r.dropped & 1;
  return static_cast<Word>(static_cast<Word>(bits + less_than_half + even) >> r.dropped << r.dropped);
}

}  // namespace taut::mpc

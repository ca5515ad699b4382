// Rounding of floating-point values to fewer bits of mantissa, on their bits: the bound `pointwise`. Why it
// keeps the bound: docs/error-model.md, section pwrel.
#pragma once

#include "core/bound.hpp"
#include "core/dtype.hpp"

namespace taut::mpc {

// To nearest, ties to even, within the magnitudes [least_normal, least_normal + range): normal values that
// do not round to infinity. All else stays as it is. Integers in the size of the type.
struct Rounding {
  unsigned dropped = 0;  // low bits of the mantissa that become 0; 0: nothing is rounded
  std::uint64_t least_normal = 0, range = 0;

  // The fewest bits that keep |x - x'| <= bound * |x| for every finite x of a real type; bound > 0.
  // PackedBits::exact: packed integers are outside the range that is rounded.
  static Rounding within(double bound, DType type, PackedBits packed = PackedBits::rounded) noexcept;
};

// Of one value, the formula of all kernels.
template <class Word>
constexpr Word rounded(Word bits, const Rounding& r) noexcept {
  constexpr Word magnitude = static_cast<Word>(~Word{0}) >> 1;
  if (static_cast<Word>((bits & magnitude) - r.least_normal) >= r.range) return bits;
  const Word less_than_half = static_cast<Word>((Word{1} << (r.dropped - 1)) - 1);
  const Word even = bits >> r.dropped & 1;
  return static_cast<Word>(static_cast<Word>(bits + less_than_half + even) >> r.dropped << r.dropped);
}

}  // namespace taut::mpc

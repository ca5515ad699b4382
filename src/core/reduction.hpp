// Operators on values. What a codec can do on frames is in codec.hpp.
#pragma once

#include "core/slice.hpp"

namespace taut {

enum class Reduction : std::uint8_t { sum = 1, min = 2, max = 3 };

constexpr const char* name_of(Reduction op) noexcept {
  return op == Reduction::sum ? "sum" : op == Reduction::min ? "min" : "max";
}

// y op x for one pair. MIN and MAX return a NaN when either operand is one, whichever side it is on, so that
// the result does not depend on the order of the ranks.
template <class T>
constexpr T combine(Reduction op, T y, T x) noexcept {
  if (op == Reduction::sum) return y + x;
  if (y != y) return y;
  if (x != x) return x;
  return (op == Reduction::min) == (x < y) ? x : y;
}

// values <- values op operand, element by element; same type and count.
void reduce_values(Slice values, ConstSlice operand, Reduction op) noexcept;

}  // namespace taut

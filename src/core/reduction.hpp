// Reduction operators on values. Arithmetic on frames is in codec.hpp.
#pragma once

#include "core/slice.hpp"

namespace taut {

enum class Reduction : std::uint8_t { sum = 1, min = 2, max = 3 };

constexpr const char* name_of(Reduction op) noexcept {
  return op == Reduction::sum ? "sum" : op == Reduction::min ? "min" : "max";
}

// Returns true if the operator is defined for the type. Complex numbers have no order, hence no MIN and MAX.
constexpr bool is_defined(Reduction op, DType type) noexcept {
  return op == Reduction::sum || info_of(type).family != Family::complex;
}

// Returns y op x for one pair of values. Integers add modulo 2^bits; halves are computed in float and rounded
// once. MIN and MAX return a NaN when either operand is one, whichever side it is on, so that the result does
// not depend on the order of the ranks.
template <class T>
constexpr T combine(Reduction op, T y, T x) noexcept {
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    if (op == Reduction::sum)
      return static_cast<T>(static_cast<Bits>(static_cast<Bits>(y) + static_cast<Bits>(x)));
    return (op == Reduction::min) == (x < y) ? x : y;
  } else {
    const auto a = static_cast<ComputedIn<T>>(y), b = static_cast<ComputedIn<T>>(x);
    if (op == Reduction::sum) return static_cast<T>(a + b);
    if (a != a) return y;
    if (b != b) return x;
    return (op == Reduction::min) == (b < a) ? x : y;
  }
}

// Reduces element by element: values <- values op operand. Both have the same type and count, and
// is_defined(op, type) is true.
void reduce_values(Slice values, ConstSlice operand, Reduction op) noexcept;

// Reduces by the values at `operand`, which may be unaligned for them, as one of several frames in a message
// is.
void reduce_payload(Slice values, const std::byte* operand, Reduction op) noexcept;

}  // namespace taut

// Reduction operators on values. Arithmetic on frames is in codec.hpp.
#pragma once

#include <bit>
#include <limits>

#include "core/half.hpp"
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

// Returns the NaN with its quiet bit set.
template <class Float>
constexpr Float made_quiet(Float nan) noexcept {
  using Bits = BitsOfFloat<Float>;
  return std::bit_cast<Float>(std::bit_cast<Bits>(nan) | Bits{1} << (std::numeric_limits<Float>::digits - 2));
}

// Returns y + x. A sum with one NaN is that NaN, made quiet. The sum of two NaN, and of infinities of both
// signs, is the quiet NaN whose other bits are its sign: the one that x86 processors make. The bits thus
// depend neither on the processor nor on the order of the operands, which compilers may change. Each way out
// needs one operand at most beside the sum: registers of GPUs are scarce.
template <class Float>
constexpr Float sum_of_floats(Float y, Float x) noexcept {
  constexpr Float of_two = -std::numeric_limits<Float>::quiet_NaN();
  if (y != y) return x != x ? of_two : made_quiet(y);
  if (x != x) return made_quiet(x);
  const Float sum = y + x;
  return sum == sum ? sum : of_two;
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
    using Computed = ComputedIn<T>;
    const auto a = static_cast<Computed>(y), b = static_cast<Computed>(x);
    if (op == Reduction::sum) return static_cast<T>(sum_of_floats(a, b));
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

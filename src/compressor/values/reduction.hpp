// Reduction operators on values. Arithmetic on frames is in codec.hpp.
#pragma once

#include <bit>
#include <limits>

#include "compressor/values/half.hpp"
#include "compressor/values/slice.hpp"

namespace taut {

enum class Reduction : std::uint8_t { sum = 1, min = 2, max = 3 };

constexpr const char* name_of(Reduction op) noexcept {
  return op == Reduction::sum ? "sum" : op == Reduction::min ? "min" : "max";
}

// Returns true if the operator is defined for the type. Complex numbers have no order, hence no MIN and MAX.
constexpr bool is_defined(Reduction op, DType type) noexcept {
  return op == Reduction::sum || info_of(type).family != Family::complex;
}

// The quiet NaN with its sign bit set and no payload (0xFFC00000, 0xFFF8000000000000), which x86 processors
// make and their manual calls indefinite.
template <class Float>
inline constexpr Float indefinite_nan = -std::numeric_limits<Float>::quiet_NaN();

// Returns the NaN with its quiet bit set.
template <class Float>
constexpr Float made_quiet(Float nan) noexcept {
  using Bits = BitsOf<Float>;
  return std::bit_cast<Float>(std::bit_cast<Bits>(nan) | Bits{1} << (std::numeric_limits<Float>::digits - 2));
}

// Returns y + x. A sum with one NaN is that NaN, made quiet. The sum of two NaN, and of infinities of both
// signs, is the indefinite NaN. The bits thus depend neither on the processor nor on the order of the
// operands, which compilers may change. NaN are found before the addition, so that no operand is kept beside
// the sum: registers of GPUs are scarce.
template <class Float>
constexpr Float sum_of_floats(Float y, Float x) noexcept {
  if (y != y) return x != x ? indefinite_nan<Float> : made_quiet(y);
  if (x != x) return made_quiet(x);
  const Float sum = y + x;
  return sum == sum ? sum : indefinite_nan<Float>;
}

// Returns the lesser or the greater of two numbers, where -0 is less than +0 (IEEE 754-2019, minimum and
// maximum); the indefinite NaN if one of them is a NaN. The result of many numbers has the same bits in every
// order. Denormals must be honoured.
template <Reduction op, class T>
constexpr T extreme_of_floats(T y, T x) noexcept {
  static_assert(op != Reduction::sum);
  const auto a = static_cast<ComputedIn<T>>(y), b = static_cast<ComputedIn<T>>(x);
  const bool min = op == Reduction::min;
  // Equal numbers differ in nothing but the sign of a zero: both are chosen, and their bits are combined.
  const auto first = std::bit_cast<BitsOf<T>>((min ? b < a : a < b) ? x : y);
  const auto second = std::bit_cast<BitsOf<T>>((min ? a < b : b < a) ? y : x);
  const auto both = static_cast<BitsOf<T>>(min ? first | second : first & second);
  return (a != a) | (b != b) ? static_cast<T>(indefinite_nan<ComputedIn<T>>) : std::bit_cast<T>(both);
}

// Returns y op x for one pair of values. Integers add modulo 2^bits; halves are computed in float and rounded
// once.
template <class T>
constexpr T combine(Reduction op, T y, T x) noexcept {
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    if (op == Reduction::sum)
      return static_cast<T>(static_cast<Bits>(static_cast<Bits>(y) + static_cast<Bits>(x)));
    return (op == Reduction::min) == (x < y) ? x : y;
  } else {
    using Computed = ComputedIn<T>;
    if (op == Reduction::sum)
      return static_cast<T>(sum_of_floats(static_cast<Computed>(y), static_cast<Computed>(x)));
    return op == Reduction::min ? extreme_of_floats<Reduction::min>(y, x)
                                : extreme_of_floats<Reduction::max>(y, x);
  }
}

// Reduces element by element: values <- values op operand. Both have the same type and count, and
// is_defined(op, type) is true.
void reduce_values(Slice values, ConstSlice operand, Reduction op) noexcept;

// Reduces as reduce_values() does, by values at an address that need not be aligned: the payload of a frame
// may start anywhere in a message.
void reduce_payload(Slice values, const std::byte* operand, Reduction op) noexcept;

// Wider type in which reduce_widely() computes with values of T: float32 for halves, float64 for float32,
// else T itself; for the parts of complex numbers likewise.
template <class T>
using Wider = std::conditional_t<is_half<T>, float, std::conditional_t<std::is_same_v<T, float>, double, T>>;

// Reduces several operands from left to right in the wider type, and rounds once: result <- (operand 0 op
// operand 1 op ...) / divisor. The operands lie one after another in memory; each has the type and the count
// of the result. Integers are not divided.
void reduce_widely(const void* operands, std::size_t n, Slice result, Reduction op, int divisor) noexcept;

}  // namespace taut

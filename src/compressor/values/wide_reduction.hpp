// Reduction of several operands in a wider type: float16 and bfloat16 in float32, float32 in float64, the
// parts of complex numbers likewise, other numbers in their own type. The result is rounded once.
#pragma once

#include "compressor/values/reduction.hpp"

namespace taut {

// Type in which values of T are reduced.
template <class T>
using Wider = std::conditional_t<is_half<T>, float, std::conditional_t<std::is_same_v<T, float>, double, T>>;

// result <- (operand 0 op operand 1 op ...) / divisor, from left to right. The operands lie one after another
// in memory; each has the type and the count of the result. Integers are not divided.
void reduce_widely(const void* operands, std::size_t n, Slice result, Reduction op, int divisor) noexcept;

}  // namespace taut

// Addition of arrays of values, as combine() adds two of them. Compilers vectorise the code for the
// instructions of the file that includes it.
#pragma once

#include "compressor/values/reduction.hpp"

namespace taut {
namespace {  // one copy for each kernel set, compiled with its instructions

// Returns combine(Reduction::sum, y, x) without a branch for numbers with a fraction. The addition of x86 and
// Arm makes a single NaN quiet; on other processors it is what their addition gives. The NaN of two NaN, or
// of infinities of both signs, is set here.
template <class T>
T branchless_sum(T y, T x) noexcept {
  if constexpr (std::is_integral_v<T>) {
    return combine(Reduction::sum, y, x);
  } else {
    using Sum = ComputedIn<T>;
    using Bits = BitsOf<Sum>;
    const auto a = static_cast<Sum>(y), b = static_cast<Sum>(x);
    const Sum sum = a + b;
    const bool indefinite = (sum != sum) & ((a != a) == (b != b));
    constexpr auto nan = std::bit_cast<Bits>(indefinite_nan<Sum>);
    return static_cast<T>(std::bit_cast<Sum>(chosen(indefinite, nan, std::bit_cast<Bits>(sum))));
  }
}

// values <- values + operand
template <class T>
void add_values(T* __restrict values, const T* __restrict operand, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) values[i] = branchless_sum(values[i], operand[i]);
}

}  // namespace
}  // namespace taut

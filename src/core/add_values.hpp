// Addition of arrays, as combine() adds two values. Compilers vectorise the code for the instructions of the
// file that includes it.
#pragma once

#include "core/half.hpp"
#include "core/reduction.hpp"

namespace taut {
namespace {  // one copy for each kernel set, compiled with its instructions

template <class T>
void add_each(T* values, const T* operand, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) values[i] = combine(Reduction::sum, values[i], operand[i]);
}

// values <- values + operand. A block with a NaN among its sums, which is rare, is added value by value.
template <class T>
void add_values(T* __restrict values, const T* __restrict operand, std::size_t n) noexcept {
  if constexpr (std::is_integral_v<T>) {
    add_each(values, operand, n);
  } else {
    using Sum = ComputedIn<T>;
    constexpr std::size_t block = 64;
    const T* const end = values + n / block * block;
    for (; values != end; values += block, operand += block) {
      Sum sums[block];
      unsigned nans = 0;
      for (std::size_t i = 0; i < block; ++i) {
        sums[i] = static_cast<Sum>(values[i]) + static_cast<Sum>(operand[i]);
        nans |= unsigned{sums[i] != sums[i]};
      }
      if (nans != 0) {
        add_each(values, operand, block);
      } else {
        for (std::size_t i = 0; i < block; ++i) values[i] = static_cast<T>(sums[i]);
      }
    }
    add_each(values, operand, n % block);
  }
}

}  // namespace
}  // namespace taut

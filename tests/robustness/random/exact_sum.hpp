// A sum of numbers without rounding. J. R. Shewchuk, "Adaptive precision floating-point arithmetic", Discrete
// Comput. Geom. 18 (1997): grow-expansion. A long double represents every number of every type, and its range
// includes every sum of them.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace taut::test {

class ExactSum {
 public:
  void add(long double x) noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      long double part = parts_[i];
      if (std::abs(x) < std::abs(part)) std::swap(x, part);
      const long double sum = x + part, rest = part - (sum - x);
      if (rest != 0) parts_[kept++] = rest;
      x = sum;
    }
    n_ = kept;
    if (x != 0) parts_[n_++] = x;
  }

  // Returns the sum, within a few units of 2^-63 of itself.
  long double value() const noexcept {
    long double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) sum += parts_[i];
    return sum;
  }

 private:
  std::array<long double, 160>
      parts_;  // non-overlapping: fewer than one for each 64 bits of the exponent range
  std::size_t n_ = 0;
};

}  // namespace taut::test

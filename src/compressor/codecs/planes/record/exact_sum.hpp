// Correctly rounded sum of a few numbers, whatever their order and size.
// Source: J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997, sections 2.4 (grow-expansion)
// and 2.8 (compress).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace taut::planes {

// The sum, without rounding; rounded() rounds it once.
class ExactSum {
 public:
  void add(double x) noexcept {
    if (!std::isfinite(x)) {
      special_ += x;
    } else if (std::abs(x) >= 0x1p900) {
      huge_.grow(x * 0x1p-200);  // keeps the partial sums finite
    } else {
      usual_.grow(x);
    }
  }

  // Adds another sum of finite numbers.
  void add(const ExactSum& other) noexcept {
    for (int i = 0; i < other.usual_.size; ++i) usual_.grow(other.usual_.part[i]);
    for (int i = 0; i < other.huge_.size; ++i) huge_.grow(other.huge_.part[i]);
  }

  // Adds a * b without rounding.
  void add_product(double a, double b) noexcept {
    const double p = a * b;
    add(p);
    add(std::fma(a, b, -p));
  }

  template <class T>
  T rounded() const noexcept {
    if (std::isnan(special_)) return static_cast<T>(std::numeric_limits<double>::quiet_NaN());
    if (special_ != 0) return static_cast<T>(special_);
    if (huge_.size == 0) return static_cast<T>(usual_.template rounded<T>());
    Expansion all = huge_;
    for (int i = 0; i < usual_.size; ++i) all.grow(usual_.part[i] * 0x1p-200);
    const double scaled = all.template rounded<T>() * 0x1p200;
    return static_cast<T>(scaled != 0 ? scaled : usual_.template rounded<T>());
  }

 private:
  // A sum kept as non-overlapping doubles in ascending order of magnitude.
  struct Expansion {
    // After compression every part has 53 bits to itself: 2098 bits need 40 parts. Before compression, parts
    // may be denser.
    static constexpr int capacity = 64;
    double part[capacity];
    int size = 0;

    void grow(double x) noexcept {
      if (size == capacity) compress();
      int kept = 0;
      for (int i = 0; i < size; ++i) {
        double y = part[i];
        if (std::abs(x) < std::abs(y)) std::swap(x, y);
        const double sum = x + y, error = y - (sum - x);
        if (error != 0) part[kept++] = error;
        x = sum;
      }
      part[kept++] = x;
      size = kept;
    }

    // Reduces the sum to as few parts as possible; section 2.8.
    void compress() noexcept {
      int bottom = size - 1, top = 0;
      double sum = part[bottom];
      for (int i = size - 2; i >= 0; --i) {
        const double y = part[i], next = sum + y, rest = y - (next - sum);
        sum = next;
        if (rest == 0) continue;
        part[bottom--] = sum;
        sum = rest;
      }
      part[bottom] = sum;
      for (int i = bottom + 1; i < size; ++i) {
        const double y = part[i], next = y + sum, rest = sum - (next - y);
        if (rest != 0) part[top++] = rest;
        sum = next;
      }
      part[top] = sum;
      size = top + 1;
    }

    // Returns a double that rounds to T like the exact sum. For types shorter than double the result is
    // rounded to odd.
    template <class T>
    double rounded() const noexcept {
      if (size == 0) return 0;
      int i = size - 1;
      double sum = part[i], error = 0;
      while (i > 0 && error == 0) {
        const double x = sum, y = part[--i];
        sum = x + y;
        error = y - (sum - x);
      }
      if (error == 0) return sum;
      if constexpr (sizeof(T) < 8) {
        if ((error < 0) != (sum < 0)) sum = std::nextafter(sum, 0.0);
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) | 1);
      }
      // A tie with a smaller part below it: round away from the tie.
      if (i > 0 && (error < 0) == (part[i - 1] < 0)) {
        const double twice = 2 * error, up = sum + twice;
        if (up - sum == twice) return up;
      }
      return sum;
    }
  };

  Expansion usual_, huge_;  // huge_: the numbers from 2^900 on, times 2^-200
  double special_ = 0;      // sum of infinities and NaN
};

}  // namespace taut::planes

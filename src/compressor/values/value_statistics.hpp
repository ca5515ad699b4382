// Mean, minimum and maximum of values that arrive in parts. NaN are left out.
#pragma once

#include <cstdint>
#include <limits>

#include "compressor/values/half.hpp"

namespace taut {

class ValueStatistics {
 public:
  template <class T>
  void add(const T* values, std::size_t n) noexcept {
    Lanes lanes;
    std::size_t i = 0;
    for (; i + Lanes::n <= n; i += Lanes::n)
      for (std::size_t k = 0; k < Lanes::n; ++k) lanes.take(k, static_cast<double>(values[i + k]));
    for (; i < n; ++i) lanes.take(i % Lanes::n, static_cast<double>(values[i]));
    for (std::size_t k = 0; k < Lanes::n; ++k) merge(lanes, k);
  }

  // Returns the number of values that are not NaN.
  std::uint64_t count() const noexcept { return count_; }
  // Mean and extremes are NaN if count() is 0.
  double mean() const noexcept { return sum_ / static_cast<double>(count_); }
  double least() const noexcept { return count_ > 0 ? least_ : nan; }
  double greatest() const noexcept { return count_ > 0 ? greatest_ : nan; }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  // Independent totals, which compilers compute side by side. Value i goes to lane i modulo n. The code has
  // no branches, so that compilers vectorise it.
  struct Lanes {
    static constexpr std::size_t n = 8;
    double sum[n] = {}, least[n], greatest[n], count[n] = {};

    Lanes() noexcept {
      for (double& x : least) x = infinity;
      for (double& x : greatest) x = -infinity;
    }
    void take(std::size_t k, double x) noexcept {
      const bool number = x == x;
      sum[k] += number ? x : 0;
      count[k] += number ? 1 : 0;
      least[k] = x < least[k] ? x : least[k];
      greatest[k] = x > greatest[k] ? x : greatest[k];
    }
  };

  void merge(const Lanes& lanes, std::size_t k) noexcept {
    sum_ += lanes.sum[k];
    count_ += static_cast<std::uint64_t>(lanes.count[k]);
    least_ = lanes.least[k] < least_ ? lanes.least[k] : least_;
    greatest_ = lanes.greatest[k] > greatest_ ? lanes.greatest[k] : greatest_;
  }

  double sum_ = 0, least_ = infinity, greatest_ = -infinity;
  std::uint64_t count_ = 0;
};

}  // namespace taut

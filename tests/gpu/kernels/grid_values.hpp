// Values on a grid, for tests of mpc's kernels.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "golden/values.hpp"
#include "gpu/kernels/lossless_codec.hpp"

namespace taut::test {

// Returns parameter i of the header of a frame.
inline unsigned parameter(const std::vector<std::byte>& frame, unsigned i) {
  return std::to_integer<unsigned>(frame[44 + i]);
}

// The forms of a grid: value of an integer.
template <class P>
P printed(int q) {
  return static_cast<P>(q / 100.0);
}
template <class P>
P packed(int q) {
  return static_cast<P>(q * 0.0014092 + 257.4);
}
template <class P>
P around_zero(int q) {  // with a unit
  return static_cast<P>(q) * P(0.0014092) + P(21.37);
}

template <class P>
inline constexpr P others[] = {std::numeric_limits<P>::quiet_NaN(),
                               -std::numeric_limits<P>::quiet_NaN(),
                               std::numeric_limits<P>::infinity(),
                               -std::numeric_limits<P>::infinity(),
                               P{0},
                               -P{0},
                               std::numeric_limits<P>::denorm_min(),
                               std::numeric_limits<P>::max(),
                               P(1e30),
                               P(-999.3)};

// Returns n values on a grid; with `off`, every 50th part is off the grid.
template <class T>
std::vector<T> on_grid(PartOf<T> (*make)(int), std::size_t n, bool off) {
  using P = PartOf<T>;
  std::vector<T> x(n);
  std::mt19937 random(5);
  auto* const parts = reinterpret_cast<P*>(x.data());
  for (std::size_t i = 0; i < n * sizeof(T) / sizeof(P); ++i) {
    const double place = static_cast<double>(i) / 700;
    parts[i] = make(static_cast<int>(20000 * std::sin(place)) + static_cast<int>(random() % 40));
    if (off && i % 50 == 49) parts[i] = others<P>[i / 50 % std::size(others<P>)];
  }
  return x;
}

// Returns values whose grid has a unit.
template <class T>
std::vector<T> with_unit() {
  constexpr std::size_t n = 301;
  const auto bytes =
      golden_values(dtype_of<T>, sizeof(PartOf<T>) == sizeof(float) ? "units22" : "units46", n, 0);
  std::vector<T> x(n);
  std::memcpy(static_cast<void*>(x.data()), bytes.data(), n * sizeof(T));
  return x;
}

}  // namespace taut::test

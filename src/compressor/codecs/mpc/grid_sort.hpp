// Sort of the sample of a grid search (grid_search.hpp) on the host: a counting sort into parts of the range,
// then an insertion sort.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "compressor/codecs/mpc/grid_search.hpp"

namespace taut::mpc {

// Maps a value to an integer, so that integers are ordered as the values are: the bits of the magnitude, with
// the sign. The bias is added to the magnitude first; else the many exponents near 0 would fill most of the
// range.
inline std::int64_t order_of(double value, double bias) noexcept {
  const auto above = std::bit_cast<std::int64_t>(std::abs(value) + bias) - std::bit_cast<std::int64_t>(bias);
  const auto sign = std::bit_cast<std::int64_t>(value) >> 63;
  return (above ^ sign) - sign;
}
inline std::int64_t order_of(const GridGap& gap, double) noexcept {
  return std::bit_cast<std::int64_t>(gap.size);
}
template <class Word>
std::int64_t order_of(Word word, double) noexcept {
  return static_cast<std::int64_t>(word ^ std::uint64_t{1} << 63);
}

// Returns the bias of order_of() for doubles: a sixteenth of a typical magnitude, the median of three.
// Returns 0 for other types.
template <class T>
double bias_of(const T* values, std::uint32_t n) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    if (n == 0) return 0;
    const double a = std::abs(values[0]), b = std::abs(values[n / 3]), c = std::abs(values[n / 3 * 2]);
    return std::max(std::min(a, b), std::min(std::max(a, b), c)) / 16;
  }
  return 0;
}

// Indices of the values of a sample, sorted by part: the range of order_of() is divided into 16384 equal
// parts. Values of one part keep their order. The counting sort has two passes, by digits of 7 bits, and no
// branch that depends on a value, which a processor would mispredict.
class IndicesByPart {
 public:
  template <class T>
  IndicesByPart(const T* values, std::uint32_t n) noexcept {
    const double bias = bias_of(values, n);
    std::int64_t orders[max_grid_values], least = std::numeric_limits<std::int64_t>::max(), greatest = -least;
    for (std::uint32_t i = 0; i < n; ++i) orders[i] = order_of(values[i], bias);
    for (std::uint32_t i = 0; i < n; ++i) {
      least = std::min(least, orders[i]);
      greatest = std::max(greatest, orders[i]);
    }
    const int shift =
        std::max(0, static_cast<int>(std::bit_width(distance(least, greatest))) - 2 * digit_bits);
    std::uint16_t parts[max_grid_values];
    std::uint8_t low[digits] = {}, high[digits] = {};  // counts, then places: modulo 256
    std::uint8_t by_low[max_grid_values];
    for (std::uint32_t i = 0; i < n; ++i) {
      parts[i] = static_cast<std::uint16_t>(distance(least, orders[i]) >> shift);
      ++low[parts[i] % digits];
      ++high[parts[i] / digits];
    }
    std::uint8_t before_low = 0, before_high = 0;
    for (std::uint32_t k = 0; k < digits; ++k) {
      before_low += std::exchange(low[k], before_low);
      before_high += std::exchange(high[k], before_high);
    }
    for (std::uint32_t i = 0; i < n; ++i) by_low[low[parts[i] % digits]++] = static_cast<std::uint8_t>(i);
    for (std::uint32_t k = 0; k < n; ++k) indices_[high[parts[by_low[k]] / digits]++] = by_low[k];
  }

  // Returns the index of the i-th value by part.
  std::uint32_t operator[](std::uint32_t i) const noexcept { return indices_[i]; }

 private:
  static_assert(max_grid_values <= 256);
  static constexpr int digit_bits = 7;
  static constexpr std::uint32_t digits = 1 << digit_bits;  // values of a digit

  static std::uint64_t distance(std::int64_t from, std::int64_t to) noexcept {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  }

  std::uint8_t indices_[max_grid_values];
};

// Sorts n numbers, at most max_grid_values, so that equal ones keep their order: 0 and -0, which are equal,
// have the order in which the sort on GPUs leaves them. `memory`: room for as many.
template <class T, class Less>
void sort_grid_values(T* x, std::uint32_t n, const Less& less, T* memory) noexcept {
  std::copy(x, x + n, memory);
  const IndicesByPart indices(memory, n);
  // Moves that the insertion sort may still make. They run out if many different values share a part; then
  // std::sort takes over.
  std::uint32_t moves = 4 * n;
  for (std::uint32_t i = 0; i < n && moves > 0; ++i) {
    const T own = memory[indices[i]];
    std::uint32_t place = i;
    for (; place > 0 && less(own, x[place - 1]) && moves > 0; --place, --moves) x[place] = x[place - 1];
    x[place] = own;
  }
  if (moves > 0) return;
  std::uint8_t order[max_grid_values];
  std::iota(order, order + n, std::uint8_t{0});
  std::sort(order, order + n, [&](std::uint8_t a, std::uint8_t b) {
    return less(memory[a], memory[b]) || (a < b && !less(memory[b], memory[a]));
  });
  for (std::uint32_t i = 0; i < n; ++i) x[i] = memory[order[i]];
}

}  // namespace taut::mpc

#include "compressor/codecs/mpc/grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compressor/base/unaligned.hpp"
#include "compressor/codecs/mpc/grid_search.hpp"
#include "compressor/codecs/mpc/kernels.hpp"

namespace taut::mpc {
namespace {

// Maps a value to an integer, so that integers are ordered as the values are: the bits of the magnitude, with
// the sign. The bias is added to the magnitude first; else the many exponents near 0 would fill most of the
// range.
std::int64_t order_of(double value, double bias) noexcept {
  const auto above = std::bit_cast<std::int64_t>(std::abs(value) + bias) - std::bit_cast<std::int64_t>(bias);
  const auto sign = std::bit_cast<std::int64_t>(value) >> 63;
  return (above ^ sign) - sign;
}
std::int64_t order_of(const GridGap& gap, double) noexcept { return std::bit_cast<std::int64_t>(gap.size); }
template <class Word>
std::int64_t order_of(Word word, double) noexcept {
  return static_cast<std::int64_t>(word ^ std::uint64_t{1} << 63);
}

// Returns a sixteenth of a usual magnitude, the median of three; of other types 0.
template <class T>
double bias_of(const T* values, std::uint32_t n) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    if (n == 0) return 0;
    const double a = std::abs(values[0]), b = std::abs(values[n / 3]), c = std::abs(values[n / 3 * 2]);
    return std::max(std::min(a, b), std::min(std::max(a, b), c)) / 16;
  }
  return 0;
}

// Indices of a sample's values, sorted by the part of its range that a value lies in: one of 16384 equal
// parts. Values of one part keep their order, and sort() finishes by insertion. Two passes by digits of 7
// bits take no branch that depends on a value, which a processor would mispredict.
class RanksByParts {
 public:
  template <class T>
  RanksByParts(const T* values, std::uint32_t n) noexcept {
    const double bias = bias_of(values, n);
    std::int64_t orders[most_grid_values], least = std::numeric_limits<std::int64_t>::max(),
                                           greatest = -least;
    for (std::uint32_t i = 0; i < n; ++i) orders[i] = order_of(values[i], bias);
    for (std::uint32_t i = 0; i < n; ++i) {
      least = std::min(least, orders[i]);
      greatest = std::max(greatest, orders[i]);
    }
    const int shift =
        std::max(0, static_cast<int>(std::bit_width(distance(least, greatest))) - 2 * digit_bits);
    std::uint16_t parts[most_grid_values];
    std::uint8_t low[digits] = {}, high[digits] = {};  // counts, then places: modulo 256
    std::uint8_t by_low[most_grid_values];
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
    for (std::uint32_t k = 0; k < n; ++k) ranks_[high[parts[by_low[k]] / digits]++] = by_low[k];
  }

  std::uint32_t operator[](std::uint32_t i) const noexcept { return ranks_[i]; }

 private:
  static_assert(most_grid_values <= 256);
  static constexpr int digit_bits = 7;
  static constexpr std::uint32_t digits = 1 << digit_bits;

  static std::uint64_t distance(std::int64_t from, std::int64_t to) noexcept {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  }

  std::uint8_t ranks_[most_grid_values];
};

// The team of a search on the host: one thread.
template <class Word>
class Searcher {
 public:
  Searcher(const std::byte* words, const Kernels& kernels) noexcept : words_(words), kernels_(kernels) {}

  Word word(std::size_t i) const noexcept { return load<Word>(words_ + i * sizeof(Word)); }
  bool is_constant(std::size_t first, std::uint32_t n) const noexcept {
    const std::byte* const at = words_ + first * sizeof(Word);
    return std::memcmp(at, at + sizeof(Word), (n - 1) * sizeof(Word)) == 0;
  }
  template <class Do>
  void each(std::uint32_t n, const Do& work) const noexcept {
    for (std::uint32_t i = 0; i < n; ++i) work(i);
  }
  template <class Do>
  void once(const Do& work) const noexcept {
    work();
  }
  template <class T, class Less>
  void sort(T* x, std::uint32_t n, const Less& less, T* memory) const noexcept {
    std::copy(x, x + n, memory);
    const RanksByParts ranks(memory, n);
    std::uint32_t moves =
        4 * n;  // that insertion may still make; none is left where many values share a part
    for (std::uint32_t i = 0; i < n && moves > 0; ++i) {
      const T own = memory[ranks[i]];
      std::uint32_t place = i;
      for (; place > 0 && less(own, x[place - 1]) && moves > 0; --place, --moves) x[place] = x[place - 1];
      x[place] = own;
    }
    if (moves > 0) return;
    std::copy(memory, memory + n, x);
    std::sort(x, x + n, less);
  }
  // Takes about a quarter of the gaps: those up to the quartile of a few.
  template <class Of>
  std::uint32_t take_least(std::uint32_t n, const Of& of, GridGap* gaps) const noexcept {
    constexpr std::uint32_t few = 16;
    double sizes[few], limit = of(0).size;
    for (std::uint32_t i = 0; i < few; ++i) sizes[i] = of(i * n / few).size;
    for (const double own : sizes) {
      std::uint32_t rank = 0;
      for (const double other : sizes) rank += other < own;
      if (rank == few / 4) limit = own;
    }
    std::uint32_t taken = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      gaps[taken] = of(i);
      taken += gaps[taken].size <= limit;
    }
    return taken;
  }
  template <class T>
  T nth(T* x, std::uint32_t n, std::uint32_t k, T*) const noexcept {
    std::nth_element(x, x + k, x + n);
    return x[k];
  }
  template <class Is, class Take>
  std::uint32_t first_few(std::uint32_t n, std::uint32_t limit, const Is& is,
                          const Take& take) const noexcept {
    std::uint32_t taken = 0;
    for (std::uint32_t i = 0; i < n && taken < limit; ++i)
      if (is(i)) take(taken++, i);
    return taken;
  }
  void codes(const typename GridWords<Word>::Value* values, const Grid& grid, Word* codes) const noexcept {
    kernels_.to_codes(reinterpret_cast<const std::byte*>(values), vectors_of(most_grid_values * sizeof(Word)),
                      grid, reinterpret_cast<std::byte*>(codes), {});
  }

 private:
  const std::byte* words_;
  const Kernels& kernels_;
};

}  // namespace

template <class Word>
bool is_unit(double unit) noexcept {
  int exponent = 0;
  return std::frexp(unit, &exponent) == 0.5 && exponent - 1 >= GridWords<Word>::least_unit &&
         exponent - 1 <= GridWords<Word>::greatest_unit;
}
template bool is_unit<std::uint32_t>(double) noexcept;
template bool is_unit<std::uint64_t>(double) noexcept;

Grid find_grid(ConstSlice values, const Kernels& kernels) noexcept {
  const ConstSlice parts{values.components()};
  const auto search = [&]<class Word>(Word) {
    GridSearchMemory<Word> memory;
    const Searcher<Word> team(static_cast<const std::byte*>(parts.data), kernels);
    return GridSearch<Word, Searcher<Word>>(team, parts.count, GridReach::message, memory).find();
  };
  if (parts.type == DType::f32) return search(std::uint32_t{});
  if (parts.type == DType::f64) return search(std::uint64_t{});
  return {};
}

}  // namespace taut::mpc

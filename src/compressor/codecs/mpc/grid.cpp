#include "compressor/codecs/mpc/grid.hpp"

#include <algorithm>
#include <cmath>

#include "compressor/base/unaligned.hpp"
#include "compressor/codecs/mpc/grid_sort.hpp"
#include "compressor/codecs/mpc/kernels.hpp"

namespace taut::mpc {
namespace {

// Interface `Threads` of a grid search (grid_search.hpp) on the host: one thread.
template <class Word>
class SearchingThread {
 public:
  SearchingThread(const std::byte* words, const Kernels& kernels) noexcept
      : words_(words), kernels_(kernels) {}

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
    sort_grid_values(x, n, less, memory);
  }
  // Takes about a quarter of the gaps: those up to the lower quartile of a few gaps.
  template <class Gap>
  std::uint32_t take_least(std::uint32_t n, const Gap& gap, GridGap* gaps) const noexcept {
    constexpr std::uint32_t few = 16;
    double sizes[few], limit = 0;
    for (std::uint32_t i = 0; i < few; ++i) sizes[i] = gap(i * n / few).size;
    for (const double own : sizes) {
      std::uint32_t smaller = 0;
      for (const double other : sizes) smaller += other < own;
      if (smaller <= few / 4) limit = std::max(limit, own);
    }
    std::uint32_t taken = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      gaps[taken] = gap(i);
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
    kernels_.to_codes(reinterpret_cast<const std::byte*>(values), vectors_of(max_grid_values * sizeof(Word)),
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
  return std::frexp(unit, &exponent) == 0.5 && exponent - 1 >= GridWords<Word>::min_unit_exponent &&
         exponent - 1 <= GridWords<Word>::max_unit_exponent;
}
template bool is_unit<std::uint32_t>(double) noexcept;
template bool is_unit<std::uint64_t>(double) noexcept;

Grid find_grid(ConstSlice values, const Kernels& kernels) noexcept {
  const ConstSlice parts{values.components()};
  const auto search = [&]<class Word>(Word) {
    GridSearchMemory<Word> memory;
    const SearchingThread<Word> thread(static_cast<const std::byte*>(parts.data), kernels);
    return GridSearch<Word, SearchingThread<Word>>(thread, parts.count, GridReach::message, memory).find();
  };
  if (parts.type == DType::f32) return search(std::uint32_t{});
  if (parts.type == DType::f64) return search(std::uint64_t{});
  return {};
}

}  // namespace taut::mpc

// Codes blocks with exact values, which have no integer on the grid: NaN, infinities, fill values, and
// numbers beyond its integers.
#pragma once

#include "compressor/codecs/szx/block.hpp"

namespace taut::szx {

template <class T>
bool same_bits(T a, T b) noexcept {
  return std::bit_cast<BitsOf<T>>(a) == std::bit_cast<BitsOf<T>>(b);
}

// Sets the code of block b: `uniform` if the block consists of one such value, `holed` if all such values are
// equal and the grid serves the others, else `raw`.
template <class T>
void plan_exact(const T* x, std::size_t b, const Grid<T>& grid, ChunkPlan<T>& plan) noexcept {
  const double step = static_cast<double>(grid.step), inverse = 1 / step;
  const T* const end = x + block_values;
  const T fill = *std::find_if(x, end, [&](T v) { return !served(v, inverse, grid); });
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  for (const T* v = x; v != end; ++v) {
    if (served(*v, inverse, grid)) {
      least = std::min(least, static_cast<double>(*v));
      greatest = std::max(greatest, static_cast<double>(*v));
    } else if (!same_bits(*v, fill)) {
      return;  // raw
    }
  }
  plan.code[b] = uniform;
  if (least > greatest) return;
  const Interval found = interval(least, greatest, step, inverse, grid.bound);
  plan.low[b] = static_cast<IntOf<T>>(nearest(found.low));
  plan.span[b] = static_cast<BitsOf<T>>(nearest(found.span));
  plan.code[b] = static_cast<std::uint8_t>(holed + bit_width(found.span));
}

template <class Set, class T>
void pack_exact(const T* x, std::size_t b, const Grid<T>& grid, const ChunkPlan<T>& plan,
                std::byte* to) noexcept {
  const std::uint8_t code = plan.code[b];
  if (!on_grid(code)) {
    std::memcpy(to, x, block_bytes<T>(code));
    return;
  }
  const double inverse = 1 / static_cast<double>(grid.step);
  alignas(64) T others[block_values];  // the low's value replaces the values in the holes
  std::uint64_t holes = 0;
  T fill = 0;
  for (std::size_t i = 0; i < block_values; ++i) {
    const bool good = served(x[i], inverse, grid);
    others[i] = good ? x[i] : grid.value(plan.low[b]);
    fill = good ? fill : x[i];
    holes |= std::uint64_t{!good} << i;
  }
  to = store(store(to, holes), fill);
  if (width_of(code) != 0) Set::pack(others, plan.low[b], plan.span[b], width_of(code), grid, to);
}

template <class Set, bool add, class T>
void unpack_exact(const std::byte* from, IntOf<T> low, std::uint8_t code, const Grid<T>& grid,
                  T* y) noexcept {
  alignas(64) T x[block_values];
  if (code == raw) {
    std::memcpy(x, from, sizeof x);
  } else if (code == uniform) {
    std::fill_n(x, block_values, load<T>(from));
  } else {
    Set::template unpack<false>(from + hole_bytes<T>, low, width_of(code), grid, x);
    const auto holes = load<std::uint64_t>(from);
    const T fill = load<T>(from + sizeof holes);
    for (std::size_t i = 0; i < block_values; ++i) x[i] = (holes >> i & 1) != 0 ? fill : x[i];
  }
  for (std::size_t i = 0; i < block_values; ++i) write_value<add>(y[i], x[i]);
}

}  // namespace taut::szx

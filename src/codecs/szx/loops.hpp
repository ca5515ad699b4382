// The kernels of a set: loops over the blocks of a chunk, made of what a set can do with one block.
#pragma once

#include "codecs/szx/block.hpp"

namespace taut::szx {

// Blocks that the grid does not serve: one value for all (bit for bit), or the values as they are.
template <class T>
std::uint8_t exact_code(const T* x) noexcept {
  return std::memcmp(x, x + 1, (block_values - 1) * sizeof(T)) == 0 ? same : raw;
}

template <class Set, class T>
void plan_blocks(const T* values, std::size_t blocks, const Grid<T>& grid, Plan<T>& plan) noexcept {
  for (std::size_t b = 0; b < blocks; ++b) {
    const T* const x = values + b * block_values;
    T least, greatest;
    Set::extremes(x, least, greatest);
    const Interval<T> found = interval(least, greatest, grid);
    plan.low[b] = found.low;
    plan.span[b] = found.span;
    plan.code[b] = found.coded ? static_cast<std::uint8_t>(std::bit_width(found.span)) : exact_code(x);
  }
}

template <class Set, class T>
std::byte* pack_blocks(const T* values, std::size_t blocks, const Grid<T>& grid, const Plan<T>& plan,
                       std::byte* to) noexcept {
  for (std::size_t b = 0; b < blocks; ++b) {
    const T* const x = values + b * block_values;
    const std::uint8_t code = plan.code[b];
    if (code >= same) {
      std::memcpy(to, x, block_bytes<T>(code));
    } else if (code != 0) {
      Set::pack(x, plan.low[b], plan.span[b], code, grid, to);
    }
    to += block_bytes<T>(code);
  }
  return to;
}

template <class Set, bool add, class T>
void unpack_blocks(const std::byte* from, std::size_t blocks, const std::uint8_t* codes, const IntOf<T>* lows,
                   const Grid<T>& grid, T* values) noexcept {
  for (std::size_t b = 0; b < blocks; ++b) {
    T* const y = values + b * block_values;
    const std::uint8_t code = codes[b];
    if (code == raw) {
      for (std::size_t i = 0; i < block_values; ++i) put<add>(y[i], load<T>(from + i * sizeof(T)));
    } else if (code == same) {
      Set::template fill<add>(load<T>(from), y);
    } else {
      Set::template unpack<add>(from, lows[b], code, grid, y);
    }
    from += block_bytes<T>(code);
  }
}

template <class Set, class T>
inline constexpr Kernels<T> kernels_of{plan_blocks<Set, T>, pack_blocks<Set, T>, unpack_blocks<Set, false, T>,
                                       unpack_blocks<Set, true, T>};

}  // namespace taut::szx

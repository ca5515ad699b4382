// Eight values between memory of the GPU and registers, 16 bytes at a time where they are aligned.
#pragma once

#include <cstring>

#include "codecs/planes/cuda/simt.hpp"
#include "codecs/planes/format.hpp"

namespace taut::planes::cuda {

struct alignas(16) Quad {
  std::uint32_t of[4];
};

// Eight values, of which there are `values`; zeros behind them.
template <class T>
TAUT_DEVICE void load_block(const T* from, unsigned values, T (&x)[block_values]) {
  if (values == block_values && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
    constexpr unsigned quads = block_values * sizeof(T) / sizeof(Quad);
    Quad raw[quads];
    for (unsigned i = 0; i < quads; ++i) raw[i] = reinterpret_cast<const Quad*>(from)[i];
    std::memcpy(x, raw, sizeof x);
  } else {
    for (unsigned i = 0; i < block_values; ++i) x[i] = i < values ? from[i] : T{};
  }
}

template <class T>
TAUT_DEVICE void store_block(T* to, unsigned values, const T (&x)[block_values]) {
  if (values == block_values && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
    constexpr unsigned quads = block_values * sizeof(T) / sizeof(Quad);
    Quad raw[quads];
    std::memcpy(raw, x, sizeof x);
    for (unsigned i = 0; i < quads; ++i) reinterpret_cast<Quad*>(to)[i] = raw[i];
  } else {
    for (unsigned i = 0; i < block_values; ++i)
      if (i < values) to[i] = x[i];
  }
}

}  // namespace taut::planes::cuda

// Moves a few values between memory of the GPU and registers, 16 bytes at a time if they are aligned.
#pragma once

#include <cstring>

#include "compressor/gpu/simt/simt.hpp"

namespace taut::cuda {

// The 16 bytes that one instruction loads or stores.
struct alignas(16) Quad {
  std::uint32_t words[4];
};

// Load and store an object whose address is aligned to its size, or to 16 bytes if the object is longer.
template <class V>
inline constexpr std::size_t alignment_of = sizeof(V) < sizeof(Quad) ? sizeof(V) : sizeof(Quad);
template <class V>
TAUT_DEVICE V load_as(const void* from) {
  V v;
  std::memcpy(&v, __builtin_assume_aligned(from, alignment_of<V>), sizeof v);
  return v;
}
template <class V>
TAUT_DEVICE void store_as(void* to, const V& v) {
  std::memcpy(__builtin_assume_aligned(to, alignment_of<V>), &v, sizeof v);
}

// True if all N values are wanted (`values` is N), and the address is aligned to 16 bytes.
template <class T, std::size_t N>
TAUT_DEVICE bool by_quads(const T* at, unsigned values) {
  return values == N && reinterpret_cast<std::uintptr_t>(at) % sizeof(Quad) == 0;
}

// Loads `values` values into x; the rest of the N values become zero.
template <class T, std::size_t N>
TAUT_DEVICE void load_block(const T* from, unsigned values, T (&x)[N]) {
  constexpr unsigned quads = N * sizeof(T) / sizeof(Quad);
  if constexpr (quads > 0) {
    if (by_quads<T, N>(from, values)) {
      Quad raw[quads];
      for (unsigned i = 0; i < quads; ++i) raw[i] = reinterpret_cast<const Quad*>(from)[i];
      std::memcpy(x, raw, sizeof x);
      return;
    }
  }
  for (unsigned i = 0; i < N; ++i) x[i] = i < values ? from[i] : T{};
}

// x <- combine(value in memory, x), for `values` values from `from` on. At most four values are loaded at a
// time, because registers are scarce.
template <class T, std::size_t N, class Combine>
TAUT_DEVICE void combine_block(const T* from, unsigned values, T (&x)[N], const Combine& combine) {
  constexpr unsigned each = sizeof(T) == 8 ? 2 : 4;  // values of a load
  if (by_quads<T, N>(from, values)) {
    struct alignas(each * sizeof(T)) Some {
      T values[each];
    };
    for (unsigned first = 0; first < N; first += each) {
      const Some some = *reinterpret_cast<const Some*>(from + first);
      for (unsigned i = 0; i < each; ++i) x[first + i] = combine(some.values[i], x[first + i]);
    }
    return;
  }
  for (unsigned i = 0; i < N; ++i)
    if (i < values) x[i] = combine(from[i], x[i]);
}

template <class T, std::size_t N>
TAUT_DEVICE void store_block(T* to, unsigned values, const T (&x)[N]) {
  constexpr unsigned quads = N * sizeof(T) / sizeof(Quad);
  if constexpr (quads > 0) {
    if (by_quads<T, N>(to, values)) {
      Quad raw[quads];
      std::memcpy(raw, x, sizeof x);
      for (unsigned i = 0; i < quads; ++i) reinterpret_cast<Quad*>(to)[i] = raw[i];
      return;
    }
  }
  for (unsigned i = 0; i < N; ++i)
    if (i < values) to[i] = x[i];
}

}  // namespace taut::cuda

// Kernel sets: the same bytes from every instruction set. A kernel works on the whole blocks of one chunk;
// the caller pads a shorter one. Scalar is the reference; tests compare the others with it byte for byte.
#pragma once

#include <span>

#include "codecs/szx/grid.hpp"

namespace taut::szx {

// What becomes of each block of a chunk, and of the chunk. Blocks that are not on the grid have low = base,
// span = 0.
template <class T>
struct Plan {
  alignas(64) IntOf<T> low[chunk_blocks];
  alignas(64) BitsOf<T> span[chunk_blocks];
  alignas(64) std::uint8_t code[chunk_blocks];
  IntOf<T> base = 0;        // the least low
  unsigned base_bytes = 0;  // that the greatest distance from it takes
  std::size_t body_bytes = 0;
  bool constant = false;  // all values are the one of the base
};

// The parts of a record, all of them inside it.
template <class T>
struct Table {
  alignas(64) std::uint8_t code[chunk_blocks];
  alignas(64) IntOf<T> low[chunk_blocks];
  std::size_t body_bytes = 0;
};

template <class T>
struct Kernels {
  void (*plan)(const T* values, std::size_t blocks, const Grid<T>& grid, Plan<T>& plan) noexcept;

  // Writes codes, lows and blocks, and up to `overrun` bytes more; returns the end.
  std::byte* (*pack)(const T* values, std::size_t blocks, const Grid<T>& grid, const Plan<T>& plan,
                     std::byte* to) noexcept;

  // Reads codes and lows; false: some code is none, or some low beyond greatest_integer.
  bool (*read_table)(const std::byte* from, std::size_t blocks, IntOf<T> base, unsigned base_bytes,
                     Table<T>& table) noexcept;

  // values <- blocks, and values <- values + blocks.
  void (*unpack)(const std::byte* from, std::size_t blocks, const Table<T>& table, const Grid<T>& grid,
                 T* values) noexcept;
  void (*unpack_add)(const std::byte* from, std::size_t blocks, const Table<T>& table, const Grid<T>& grid,
                     T* values) noexcept;
};

struct KernelSet {
  const char* name;
  bool (*supported)() noexcept;
  Kernels<float> f32;
  Kernels<double> f64;

  template <class T>
  const Kernels<T>& of() const noexcept {
    if constexpr (sizeof(T) == 8) {
      return f64;
    } else {
      return f32;
    }
  }
};

const KernelSet& scalar_kernels() noexcept;
const KernelSet& avx2_kernels() noexcept;
const KernelSet& avx512_kernels() noexcept;

// All sets built in, best first; scalar is last and always supported.
std::span<const KernelSet* const> kernel_sets() noexcept;

// The set of that name if this processor supports it; the best one for ""; null: unknown or not supported.
const KernelSet* find_kernels(const char* name) noexcept;

}  // namespace taut::szx

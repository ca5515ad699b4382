// Kernel sets of the szx codec, one for each instruction set; all sets produce the same bytes. A kernel
// processes the whole blocks of one chunk; the caller pads a shorter chunk. The scalar set is the reference
// that tests compare the other sets with byte for byte.
#pragma once

#include "compressor/codecs/szx/grid.hpp"
#include "compressor/simd/kernel_choice.hpp"

namespace taut::szx {

// Coding decisions for each block of a chunk and for the chunk. Blocks that are not on the grid have
// low = base, span = 0.
template <class T>
struct Plan {
  alignas(64) IntOf<T> low[chunk_blocks];
  alignas(64) BitsOf<T> span[chunk_blocks];
  alignas(64) std::uint8_t code[chunk_blocks];
  IntOf<T> base = 0;        // the least low
  unsigned base_bytes = 0;  // bytes of the greatest distance of a low from the base
  std::size_t body_bytes = 0;
  bool constant = false;  // all values equal the value of the base
};

// Codes and lows of a record, as read.
template <class T>
struct Table {
  alignas(64) std::uint8_t code[chunk_blocks];
  alignas(64) IntOf<T> low[chunk_blocks];
  std::size_t body_bytes = 0;
};

template <class T>
struct Kernels {
  void (*plan)(const T* values, std::size_t blocks, const Grid<T>& grid, Plan<T>& plan) noexcept;

  // Writes codes, lows and blocks, and up to `overrun` bytes more. Returns the end of the blocks.
  std::byte* (*pack)(const T* values, std::size_t blocks, const Grid<T>& grid, const Plan<T>& plan,
                     std::byte* to) noexcept;

  // Reads codes and lows. Returns false if a code is invalid or a low is beyond greatest_integer.
  bool (*read_table)(const std::byte* from, std::size_t blocks, IntOf<T> base, unsigned base_bytes,
                     Table<T>& table) noexcept;

  // values <- blocks, and values <- values + blocks.
  void (*unpack)(const std::byte* from, std::size_t blocks, const Table<T>& table, const Grid<T>& grid,
                 T* values) noexcept;
  void (*unpack_add)(const std::byte* from, std::size_t blocks, const Table<T>& table, const Grid<T>& grid,
                     T* values) noexcept;
};

struct KernelSet {
  static const KernelSet& scalar() noexcept;
  static const KernelSet& avx2() noexcept;
  static const KernelSet& avx512() noexcept;
  static const KernelSet& neon() noexcept;

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

// Returns all sets of this build; see built_kernels.
inline std::span<const KernelSet* const> kernel_sets() noexcept { return built_kernels<KernelSet>(); }

}  // namespace taut::szx

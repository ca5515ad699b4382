// Kernel sets of the szx codec, one for each instruction set; all sets produce the same bytes. A kernel
// processes the whole blocks of one chunk; the caller pads a shorter chunk. The scalar set is the reference
// that tests compare the other sets with byte for byte.
#pragma once

#include <tuple>

#include "compressor/codecs/szx/grid.hpp"
#include "compressor/simd/kernel_choice.hpp"

namespace taut::szx {

// Decisions of an encoder on the blocks of a chunk. Blocks whose code has no width have low = base, span = 0.
template <class T>
struct ChunkPlan {
  alignas(64) IntOf<T> low[chunk_blocks];
  alignas(64) BitsOf<T> span[chunk_blocks];  // greatest offset
  alignas(64) std::uint8_t code[chunk_blocks];
  IntOf<T> base = 0;           // the least low
  unsigned base_bytes = 0;     // bytes of the greatest distance of a low from the base
  std::size_t body_bytes = 0;  // bytes of all blocks
  bool constant = false;       // all values equal the value of the base
};

// Codes and lows of a record, as read.
template <class T>
struct BlockTable {
  alignas(64) std::uint8_t code[chunk_blocks];
  alignas(64) IntOf<T> low[chunk_blocks];
  std::size_t body_bytes = 0;  // bytes of all blocks
};

// Kernels for values of type T, in whole blocks.
template <class T>
struct Kernels {
  // Chooses code, low and span of each block.
  void (*plan)(const T* values, std::size_t blocks, const Grid<T>& grid, ChunkPlan<T>& plan) noexcept;

  // Writes codes, lows and blocks, and up to `overrun` bytes more. Returns the end of the blocks.
  std::byte* (*pack)(const T* values, std::size_t blocks, const Grid<T>& grid, const ChunkPlan<T>& plan,
                     std::byte* to) noexcept;

  // Reads codes and lows. Returns false if a code is invalid or a low is beyond max_integer.
  bool (*read_table)(const std::byte* from, std::size_t blocks, IntOf<T> base, unsigned base_bytes,
                     BlockTable<T>& table) noexcept;

  // unpack() decodes the blocks; unpack_add() adds their values to `values`, as combine() does.
  void (*unpack)(const std::byte* from, std::size_t blocks, const BlockTable<T>& table, const Grid<T>& grid,
                 T* values) noexcept;
  void (*unpack_add)(const std::byte* from, std::size_t blocks, const BlockTable<T>& table,
                     const Grid<T>& grid, T* values) noexcept;
};

struct KernelSet {
  template <class Set>
  static const KernelSet& with() noexcept;  // Set: an instruction set of compressor/simd

  const char* name;
  bool (*supported)() noexcept;
  std::tuple<Kernels<float>, Kernels<double>> kernels;

  template <class T>
  const Kernels<T>& for_type() const noexcept {
    return std::get<Kernels<T>>(kernels);
  }
};

// Returns all sets of this build; see built_kernels.
std::span<const KernelSet* const> kernel_sets() noexcept;

}  // namespace taut::szx

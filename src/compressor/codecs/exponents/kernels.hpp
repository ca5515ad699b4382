// Kernel sets of the exponents codec, one for each instruction set; all sets produce the same bytes. Kernels
// process whole groups of 64; the caller pads. The scalar set is the reference that tests compare the other
// sets with.
#pragma once

#include "compressor/codecs/exponents/book.hpp"
#include "compressor/simd/kernel_choice.hpp"

namespace taut::exponents {

// Values in parts. A value, rotated left by one bit, has a high byte, which begins with the exponent, and a
// low byte. The symbol is the exponent; the other bits of the high byte are `extra` planes of 64 values each.
struct Parts {
  alignas(64) std::byte symbols[chunk_values + overrun];
  alignas(64) std::byte low[chunk_values + overrun];
  alignas(64) std::byte extra[plane_bytes(max_groups, 3)];
};

// Values with symbol 0.
struct Zeros {
  std::size_t count = 0;
  bool all = true;  // all bits of all of them are 0
};

struct KernelSet {
  static const KernelSet& scalar() noexcept;
  static const KernelSet& avx2() noexcept;
  static const KernelSet& avx512() noexcept;
  static const KernelSet& neon() noexcept;

  const char* name;
  bool (*supported)() noexcept;

  // Convert values to parts and back. `spare`: spare_bits of the type.
  Zeros (*split)(const std::byte* values, std::size_t groups, unsigned spare, Parts& parts) noexcept;
  void (*join)(const std::byte* symbols, const std::byte* low, const std::byte* extra, std::size_t groups,
               unsigned spare, std::byte* values) noexcept;

  // Writes the codes of symbols as planes, and the symbols that the book lacks to `escapes`. Returns the
  // number of these.
  std::size_t (*encode)(const std::byte* symbols, std::size_t groups, const Book& book, std::byte* planes,
                        std::byte* escapes) noexcept;

  // The inverse; returns false unless the planes use exactly the given escapes. Reads `overrun` bytes beyond
  // them.
  bool (*decode)(const std::byte* planes, std::size_t groups, const Book& book, ConstBytes escapes,
                 std::byte* symbols) noexcept;

  // Copies the bytes whose symbol is not 0; returns their number.
  std::size_t (*leave_out)(const std::byte* symbols, const std::byte* bytes, std::size_t groups,
                           std::byte* left) noexcept;

  // The inverse: the other bytes are 0. Returns false unless the symbols use exactly the given bytes. Reads
  // `overrun` bytes beyond them.
  bool (*put_back)(const std::byte* symbols, ConstBytes left, std::size_t groups, std::byte* bytes) noexcept;
};

// Returns all sets of this build; see built_kernels.
inline std::span<const KernelSet* const> kernel_sets() noexcept { return built_kernels<KernelSet>(); }

}  // namespace taut::exponents

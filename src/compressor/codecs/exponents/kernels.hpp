// Kernel sets of the exponents codec, one for each instruction set; all sets produce the same bytes. Kernels
// process whole groups of 64; the caller pads. The scalar set is the reference that tests compare the other
// sets with.
#pragma once

#include <array>
#include <span>

#include "compressor/codecs/exponents/format.hpp"
#include "compressor/simd/kernel_choice.hpp"

namespace taut::exponents {

// Code book, which gives the commonest symbols short codes. A symbol's code is its index in the book; the
// greatest code of the width, the escape, stands for all other symbols.
struct CodeBook {
  unsigned width = 0;
  alignas(16) std::uint8_t symbol[16] = {};  // by code
  alignas(64) std::uint8_t code[256] = {};   // by symbol

  std::uint8_t escape() const noexcept { return static_cast<std::uint8_t>(symbols_of(width)); }

  // Sets `code` from `symbol` and the width.
  void set_codes() noexcept;
};

struct CodeBooks {
  CodeBook first, second;

  // Chooses the books: `first` has the commonest symbols, with the width for which all codes need the fewest
  // bits; `second` has the next 15 symbols.
  static CodeBooks choose(const std::array<std::uint32_t, 256>& frequency) noexcept;
};

// Parts of the values of a chunk. A value, rotated left by one bit, has a high byte, which begins with the
// exponent, and a low byte. The symbol is the exponent; the other bits of the high byte are the spare bits,
// which are stored as bit planes of 64 values each.
struct SplitValues {
  alignas(64) std::byte symbols[chunk_values + overrun];
  alignas(64) std::byte low_bytes[chunk_values + overrun];
  alignas(64) std::byte spare_planes[plane_bytes(max_groups, 3)];
};

// Number of values with symbol 0, and a flag: all these values are 0.
struct ZeroSymbols {
  std::size_t count = 0;
  bool all_are_zero = true;  // the other bits of these values are 0 too
};

struct KernelSet {
  template <class Set>
  static const KernelSet& with() noexcept;  // Set: an instruction set of compressor/simd

  const char* name;
  bool (*supported)() noexcept;

  // Convert values to parts and back. `spare`: spare_bits of the type.
  ZeroSymbols (*split)(const std::byte* values, std::size_t groups, unsigned spare,
                       SplitValues& parts) noexcept;
  void (*join)(const std::byte* symbols, const std::byte* low_bytes, const std::byte* spare_planes,
               std::size_t groups, unsigned spare, std::byte* values) noexcept;

  // Writes the codes of symbols as planes, and the symbols that the book lacks to `escapes`. Returns the
  // number of these.
  std::size_t (*encode)(const std::byte* symbols, std::size_t groups, const CodeBook& book, std::byte* planes,
                        std::byte* escapes) noexcept;

  // Decodes symbols, the inverse of encode(). Returns false unless the codes use exactly the given escapes.
  // Reads `overrun` bytes beyond the escapes.
  bool (*decode)(const std::byte* planes, std::size_t groups, const CodeBook& book, ConstBytes escapes,
                 std::byte* symbols) noexcept;

  // Copies the low bytes whose symbol is not 0; returns their number.
  std::size_t (*compress_low)(const std::byte* symbols, const std::byte* bytes, std::size_t groups,
                              std::byte* to) noexcept;

  // Restores the low bytes, the inverse of compress_low(): those whose symbol is 0 become 0. Returns false
  // unless the symbols use exactly the given bytes. Reads `overrun` bytes beyond `from`.
  bool (*expand_low)(const std::byte* symbols, ConstBytes from, std::size_t groups,
                     std::byte* bytes) noexcept;
};

// Returns all sets of this build; see built_kernels.
std::span<const KernelSet* const> kernel_sets() noexcept;

}  // namespace taut::exponents

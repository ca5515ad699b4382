// Kernel sets: the same bytes from every instruction set. A kernel works on one chunk, in whole vectors of 64
// bytes; the caller completes a shorter chunk. Scalar is the reference; tests compare the others with it.
#pragma once

#include "codecs/mpc/format.hpp"
#include "codecs/mpc/rounding.hpp"

namespace taut::mpc {

// For one size of words.
struct Kernels {
  // Codes 1 <= vectors <= 64 vectors of words, each word predicted by the one `distance` before it. `record`
  // has room for max_record_bytes. Returns the record's size, a multiple of 4.
  std::size_t (*encode)(const std::byte* words, std::size_t vectors, unsigned distance,
                        std::byte* record) noexcept;

  // The inverse; writes all vectors. The record may be read `overrun` bytes beyond its end. False: it is not
  // what an encoder writes.
  bool (*decode)(ConstBytes record, std::size_t vectors, unsigned distance, std::byte* words) noexcept;

  // Rounds each word; the floating-point type is of this size. Null for words of one byte.
  void (*round)(const std::byte* words, std::size_t vectors, const Rounding& rounding,
                std::byte* rounded) noexcept;
};

struct KernelSet {
  const char* name;
  bool (*supported)() noexcept;
  Kernels words[4];  // of 1, 2, 4 and 8 bytes

  const Kernels& of(std::size_t word_bytes) const noexcept { return words[std::countr_zero(word_bytes)]; }
};

const KernelSet& scalar_kernels() noexcept;
const KernelSet& avx2_kernels() noexcept;
const KernelSet& avx512_kernels() noexcept;

// All sets built in, best first; scalar is last and always supported.
std::span<const KernelSet* const> kernel_sets() noexcept;

// The set of that name if this processor supports it; the best one for ""; null: unknown or not supported.
const KernelSet* find_kernels(const char* name) noexcept;

}  // namespace taut::mpc

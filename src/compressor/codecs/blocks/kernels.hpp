// Kernel sets of the blocks codec, one for each instruction set; all sets produce the same bytes. The scalar
// set is the reference that tests compare the other sets with.
#pragma once

#include <span>
#include <tuple>

#include "compressor/codecs/blocks/format.hpp"
#include "compressor/simd/kernel_choice.hpp"
#include "compressor/values/half.hpp"

namespace taut::blocks {

// Kernels for values of type T, in whole blocks. `bits`: one of `rates`. They run in a FloatEnvironment.
template <class T>
struct Kernels {
  void (*encode)(const T* values, std::size_t blocks, unsigned bits, std::byte* scales,
                 std::byte* codes) noexcept;
  // Returns false if a scale is not finite.
  bool (*decode)(const std::byte* scales, const std::byte* codes, std::size_t blocks, unsigned bits,
                 T* values) noexcept;
};

struct KernelSet {
  template <class Set>
  static const KernelSet& with() noexcept;  // Set: an instruction set of compressor/simd

  const char* name;
  bool (*supported)() noexcept;
  std::tuple<Kernels<float>, Kernels<f16>, Kernels<bf16>> kernels;

  template <class T>
  const Kernels<T>& for_type() const noexcept {
    return std::get<Kernels<T>>(kernels);
  }
};

// Returns all sets of this build; see built_kernels.
std::span<const KernelSet* const> kernel_sets() noexcept;

}  // namespace taut::blocks

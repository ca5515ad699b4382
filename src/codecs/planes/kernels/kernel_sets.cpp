#include <array>

#include "codecs/planes/kernels/kernels.hpp"
#include "core/kernel_choice.hpp"

namespace taut::planes {

std::span<const KernelSet* const> kernel_sets() noexcept {
#if TAUT_X86
  static const std::array sets{&avx512_kernels(), &avx2_kernels(), &scalar_kernels()};
#else
  static const std::array sets{&scalar_kernels()};
#endif
  return sets;
}

const KernelSet* find_kernels(const char* name) noexcept { return choose_kernels(kernel_sets(), name); }

}  // namespace taut::planes

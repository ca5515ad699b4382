#include <array>
#include <string_view>

#include "codecs/szx/kernels.hpp"

namespace taut::szx {

std::span<const KernelSet* const> kernel_sets() noexcept {
#if TAUT_X86
  static const std::array sets{&avx512_kernels(), &avx2_kernels(), &scalar_kernels()};
#else
  static const std::array sets{&scalar_kernels()};
#endif
  return sets;
}

const KernelSet* find_kernels(const char* name) noexcept {
  const std::string_view wanted(name);
  for (const KernelSet* set : kernel_sets())
    if ((wanted.empty() || wanted == set->name) && set->supported()) return set;
  return nullptr;
}

}  // namespace taut::szx

// Kernels for NEON, which every AArch64 processor has.
#include "compressor/codecs/planes/kernels/slices/kernel_set.hpp"
#include "compressor/codecs/planes/kernels/neon/registers.hpp"

namespace taut::planes {

const KernelSet& KernelSet::neon() noexcept {
  static constexpr auto set = kernel_set<SliceKernels<NeonRegisters>>(
      "neon", []() noexcept { return true; }, scalar_general_kernels);
  return set;
}

}  // namespace taut::planes

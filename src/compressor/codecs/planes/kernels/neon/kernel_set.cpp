// Kernels for NEON, which every AArch64 processor has.
#include "compressor/codecs/planes/kernels/slices/kernel_set.hpp"
#include "compressor/codecs/planes/kernels/neon/registers.hpp"

namespace taut::planes {

template <>
const KernelSet& KernelSet::with<simd::Neon>() noexcept {
  static constexpr auto set =
      kernel_set<simd::Neon, SliceKernels<NeonRegisters>>(general_kernels_with<simd::Scalar>);
  return set;
}

}  // namespace taut::planes

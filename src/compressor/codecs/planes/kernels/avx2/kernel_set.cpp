// Kernels for AVX2 (Haswell, Zen and later).
#include "compressor/codecs/planes/kernels/slices/kernel_set.hpp"
#include "compressor/codecs/planes/kernels/avx2/registers.hpp"

namespace taut::planes {

template <>
const KernelSet& KernelSet::with<simd::Avx2>() noexcept {
  static constexpr auto set =
      kernel_set<simd::Avx2, SliceKernels<Avx2Registers>>(general_kernels_with<simd::Avx2>);
  return set;
}

}  // namespace taut::planes

// Kernels for AVX2 (Haswell, Zen and later).
#include "compressor/codecs/planes/kernels/slices/kernel_set.hpp"
#include "compressor/codecs/planes/kernels/avx2/registers.hpp"

namespace taut::planes {

const KernelSet& KernelSet::avx2() noexcept {
  static constexpr auto set = kernel_set<SliceKernels<Avx2Registers>>("avx2", has_avx2, avx2_general_kernels);
  return set;
}

}  // namespace taut::planes

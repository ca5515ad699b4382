#include "codecs/szx/loops.hpp"

namespace taut::szx {

const KernelSet& avx2_kernels() noexcept {
  static constexpr KernelSet set{
      "avx2",
      []() noexcept { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"); },
      kernels_of<Portable, float>,
      kernels_of<Portable, double>,
  };
  return set;
}

}  // namespace taut::szx

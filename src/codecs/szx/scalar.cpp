// The reference set in portable code.
#include "codecs/szx/loops.hpp"

namespace taut::szx {

const KernelSet& scalar_kernels() noexcept {
  static constexpr KernelSet set{"scalar", []() noexcept { return true; }, kernels_of<Portable, float>,
                                 kernels_of<Portable, double>};
  return set;
}

}  // namespace taut::szx

// The reference set in portable code.
#include "compressor/codecs/szx/loops.hpp"

namespace taut::szx {

const KernelSet& KernelSet::scalar() noexcept {
  static constexpr auto set = kernel_set<Portable>("scalar", []() noexcept { return true; });
  return set;
}

}  // namespace taut::szx

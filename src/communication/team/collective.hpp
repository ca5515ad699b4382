// Collective operations that Taut serves, from the list in collectives.txt, and the point-to-point operations
// send and recv, which are counted like collectives but have no algorithms.
#pragma once

#include "collective_list.hpp"

namespace taut {

constexpr const char* name_of(Collective collective) noexcept {
  return collective_names[static_cast<int>(collective)];
}

}  // namespace taut

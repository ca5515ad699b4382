// The collective operations that are served, from the list in collectives.txt, and the messages (send, recv)
// that are counted along with them but have no algorithms.
#pragma once

#include "collective_list.hpp"

namespace taut {

constexpr const char* name_of(Collective collective) noexcept {
  return collective_names[static_cast<int>(collective)];
}

}  // namespace taut

// Collective operations that Taut serves, from the list in collectives.txt, and the point-to-point operations
// send and recv, which are counted like collectives but have no algorithms.
#pragma once

#include <vector>

#include "collective_list.hpp"

namespace taut {

constexpr const char* name_of(Collective collective) noexcept {
  return collective_names[static_cast<int>(collective)];
}

// Neighbours of a rank in a neighbourhood collective.
// Ranks from which blocks are received and to which blocks are sent, one entry for each block. A rank may
// occur several times, also this rank itself: its blocks are matched in the order of the entries.
struct Neighbours {
  std::vector<int> from, to;
};

}  // namespace taut

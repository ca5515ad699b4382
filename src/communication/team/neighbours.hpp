// Neighbours of a rank in a neighbourhood collective.
#pragma once

#include <vector>

namespace taut {

// Ranks from which blocks are received and to which blocks are sent, one entry for each block. A rank may
// occur several times, also this rank itself: its blocks are matched in the order of the entries.
struct Neighbours {
  std::vector<int> from, to;
};

}  // namespace taut

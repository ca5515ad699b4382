// Receipt of blocks from neighbours, a step that several algorithms share.
#pragma once

#include "core/algorithm.hpp"

namespace taut::algorithms {

// Receives one block from each other rank among the neighbours. The other side must have all its messages in
// flight at a time, since neighbours take them in any order.
Task<> receive_from_neighbours(Team team, const Operands& data);

// Returns the block of neighbour i of n, this segment's part.
template <class S>
S block_of_neighbour(const Team& team, const Blocks<S>& values, std::size_t i, std::size_t n) noexcept {
  return team.in_blocks(static_cast<int>(n)).chunk(values, static_cast<int>(i));
}

}  // namespace taut::algorithms

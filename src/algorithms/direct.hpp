// The two halves of the direct exchange, in which every rank writes to every other one.
#pragma once

#include "core/algorithm.hpp"

namespace taut::algorithms {

// Reduce-scatter: rank r ends with the frame of block r of the reduction.
Task<Frame> direct_reduce(Team team, Blocks<ConstSlice> values, Reduction op);

// Codings of a value by direct_reduce that add to its error: P leaves and, by values, a sum a round.
int direct_growth(int P, Arithmetic how);

// Allgather: `mine` is the frame of block `rank`, a sum of `addends` frames as are all the others; every rank
// ends with all blocks, its own decoded as well.
Task<> direct_share(Team team, Frame mine, std::uint32_t addends, Blocks<Slice> values);

Scratch direct_scratch(int P, int me);

}  // namespace taut::algorithms

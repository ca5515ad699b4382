// The two halves of the ring, shared by the collectives that are made of them.
#pragma once

#include "core/algorithm.hpp"

namespace taut::algorithms {

// Reduce-scatter: rank r ends with the frame of block r of the reduction.
Task<Frame> ring_reduce(Team team, Blocks<ConstSlice> values, Reduction op);

// Allgather: `mine` is the frame of block `rank`, a sum of `addends` frames as are all the others; every rank
// ends with all blocks, its own decoded as well.
Task<> ring_share(Team team, Frame mine, std::uint32_t addends, Blocks<Slice> values);

}  // namespace taut::algorithms

// The two halves of the ring algorithm, shared by several collectives.
#pragma once

#include "core/algorithm.hpp"

namespace taut::algorithms {

// Reduce-scatter: rank r ends with the frame of block r of the reduction.
Task<Frame> ring_reduce(Team team, Blocks<ConstSlice> values, Reduction op);

// Allgather: `mine` is the frame of block `rank`. Every frame is a sum of `addends` frames. Every rank ends
// with all blocks decoded, its own included.
Task<> ring_share(Team team, Frame mine, std::uint32_t addends, Blocks<Slice> values);

}  // namespace taut::algorithms

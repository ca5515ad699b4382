// The two halves of the ring algorithm, shared by several collectives.
#pragma once

#include "communication/team/algorithm.hpp"

namespace taut::algorithms {

// Reduce-scatter: rank r ends with the frame of block r of the reduction.
Task<Frames> ring_reduce(Team team, Blocks<ConstSlice> values, Reduction op);

// Allgather: `mine` is the frame of block `rank`. Every rank ends with all blocks decoded, its own in `own`.
Task<> ring_allgather_frames(Team team, Frames mine, Blocks<Slice> values, Slice own);

}  // namespace taut::algorithms

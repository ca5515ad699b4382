// The two halves of the direct exchange, in which every rank sends to every other rank.
#pragma once

#include "core/algorithm.hpp"

namespace taut::algorithms {

// Reduce-scatter: rank r ends with the frame of block r of the reduction.
Task<Frame> direct_reduce(Team team, Blocks<ConstSlice> values, Reduction op);

// Returns the error growth of direct_reduce, the encodings that add to the error of a value: P inputs and, by
// values, one sum for each round.
int direct_growth(int P, Arithmetic how);

// Allgather: `mine` is the frame of block `rank`. Every frame is a sum of `addends` frames. Every rank ends
// with all blocks decoded, its own included.
Task<> direct_share(Team team, Frame mine, std::uint32_t addends, Blocks<Slice> values);

Scratch direct_scratch(int P, int me);

}  // namespace taut::algorithms

// CPR-P2P (compression in point-to-point calls): the part that several collectives share.
#pragma once

#include "core/algorithm.hpp"

namespace taut::algorithms {

// Ring allgather like ring_share, in which every hop decodes and encodes again.
Task<> recoding_share(Team team, Frame mine, Blocks<Slice> values);

}  // namespace taut::algorithms

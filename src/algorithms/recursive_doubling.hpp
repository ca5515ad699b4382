// Recursive doubling over the ranks before a rank, shared by the collectives that compute prefixes.
#pragma once

#include "core/algorithm.hpp"

namespace taut::algorithms {

// Scan over the ranks first .. P-1, this rank among them: `own` is the frame of its values, which are like
// `values`. Returns the frame of the reduction over the ranks first .. rank.
Task<Frame> doubled_prefix(Team team, Frame own, int first, ConstSlice values, Reduction op);

}  // namespace taut::algorithms

// Binomial scatter, shared by the collectives that begin with it.
#pragma once

#include "communication/team/algorithm.hpp"

namespace taut::algorithms {

// Returns the number of ranks in the subtree of `me`, itself included; ranks are counted from the root.
int binomial_subtree(int me, int P);

// Scatters the frames of the blocks of `values`, which only the root has; block i goes to rank i. Every rank
// gets the frames of its subtree, its own block first; the root gets those of all other ranks. No
// block is larger than `largest`.
Task<Frames> binomial_spread(Team team, Blocks<ConstSlice> values, ConstSlice largest, int root);

Cost binomial_spread_cost(int P);

}  // namespace taut::algorithms

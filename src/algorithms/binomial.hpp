// The tree of the binomial scatter, for the collectives that begin with it.
#pragma once

#include "core/algorithm.hpp"

namespace taut::algorithms {

// The ranks of the subtree of `me`, itself included; ranks are counted from the root.
int binomial_subtree(int me, int P);

// Spreads the frames of the blocks of `values`, which only the root has; block i goes to rank i. Every rank
// ends with the bundle of its subtree, its own block first; the root with those of all others. No block is
// larger than `largest`.
Task<FrameBatch> binomial_spread(Team team, Blocks<ConstSlice> values, ConstSlice largest, int root);

Cost binomial_spread_cost(int P);

}  // namespace taut::algorithms

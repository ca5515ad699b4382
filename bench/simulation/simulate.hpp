// Simulation of one collective call on many hosts.
#pragma once

#include "collective_run.hpp"
#include "virtual_network.hpp"

namespace simulation {

struct Outcome {
  double seconds = 0;     // until the last rank has completed the call
  Spent spent = {};       // of the rank that computed longest
  double sent_bytes = 0;  // of the rank that sent most
  PlannedCall planned = {};
};

Outcome simulate(const CollectiveCall& call, const Link& link);

// Simulates a call by its plan, and by every other route that gives the same bits, and returns the fastest:
// what the engine arrives at when it tries these routes.
Outcome simulate_settled(const CollectiveCall& call, const Link& link);

// Simulates the uncompressed call by every algorithm and several numbers of segments, and returns the
// fastest, to 1 %: at least as fast as any MPI that uses one of these algorithms on such a network. With
// `plain_whole`, and if sums take time (`plain_sum`), messages go in one piece, and each block is added after
// its arrival: as MPICH does.
Outcome simulate_plain(const CollectiveCall& call, const Link& link);

}  // namespace simulation

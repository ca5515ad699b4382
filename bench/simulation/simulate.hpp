// Simulation of one collective call on many hosts.
#pragma once

#include "collective_run.hpp"
#include "virtual_network.hpp"

namespace simulation {

struct Outcome {
  double seconds = 0;     // until the last rank has completed the call
  Spent spent = {};       // of the rank that computed longest
  double sent_bytes = 0;  // of the rank that sent most
  double link_bytes = 0;  // sent to other hosts, by the host that sent most
  PlannedCall planned = {};
};

Outcome simulate(const CollectiveCall& call, const PlannedCall& planned, const Link& link);
Outcome simulate(const CollectiveCall& call, const Link& link);  // by the engine's plan

// Simulates a call by its plan, and by every other route that gives the same bits, and returns the fastest:
// what the engine arrives at when it tries these routes.
Outcome simulate_settled(const CollectiveCall& call, const Link& link);

// Simulates the uncompressed call by every algorithm, on all ranks, by nodes and by leaders, and by several
// numbers of segments, and returns the fastest, to 1 %: at least as fast as any MPI that uses one of these
// algorithms on such a network. With `plain_whole`, and if sums take time (`plain_sum`), messages go in one
// piece, and each block is added after its arrival: as MPICH does.
Outcome simulate_plain(const CollectiveCall& call, const Link& link);

}  // namespace simulation

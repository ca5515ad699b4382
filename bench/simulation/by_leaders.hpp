// By leaders: how MPICH and Open MPI serve collectives of many ranks a host. The ranks of a host reduce to
// their leader, the leaders run an algorithm among themselves, and each leader broadcasts on its host.
#pragma once

#include "communication/team/algorithm.hpp"
#include "hosts.hpp"

namespace simulation {

// Ranks in the view of one rank: those of its host, of which the first one leads, and the leaders of all
// hosts.
struct Leaders {
  Leaders(const Hosts& hosts, int ranks, int me);
  std::vector<int> of_host, leaders;
};

constexpr bool runs_by_leaders(taut::Collective collective) noexcept {
  using enum taut::Collective;
  return collective == allreduce || collective == reduce || collective == bcast;
}

// Runs a call by leaders, with rank 0 as the root. `leaders` has to outlive the task.
taut::Task<> by_leaders(const taut::AlgorithmInfo& algorithm, const Leaders& leaders, taut::Team team,
                        taut::Operands data);

}  // namespace simulation

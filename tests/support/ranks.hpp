// Communicators on loopback.
#pragma once

#include "communication/comm/communicator.hpp"
#include "support/group.hpp"

namespace taut::test {

// Communicators of P ranks under one policy.
class Ranks {
 public:
  Ranks(int P, const std::string& policy, LoopbackHub::Options options = {.seed = 1, .random_order = true},
        const Nodes& nodes = {})
      : hub(P, options) {
    for (int r = 0; r < P; ++r) {
      places.push_back(std::make_unique<HostPlace>());
      comms.push_back(std::make_unique<Communicator>(hub.transport(r), *places.back(), parse_policy(policy),
                                                     "", Observer{}, nodes));
    }
  }

  // Runs the call after change(rank, request) on each rank.
  template <class Change>
  std::vector<Verdict> run(Collective collective, Job& job, Change change) {
    return run_all<Verdict>(hub, [&](int rank) {
      CollectiveCall request{collective, job.operands(rank), job.bytes()};
      change(rank, request);
      return comms[static_cast<std::size_t>(rank)]->run(request);
    });
  }
  std::vector<Verdict> run(Collective collective, Job& job) {
    return run(collective, job, [](int, CollectiveCall&) {});
  }
  Statistics statistics(int rank) const { return comms[static_cast<std::size_t>(rank)]->calls().total(); }

  LoopbackHub hub;
  std::vector<std::unique_ptr<Place>> places;
  std::vector<std::unique_ptr<Communicator>> comms;
};

}  // namespace taut::test

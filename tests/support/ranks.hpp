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

// Makes a call in flight.
inline Task<> start(Communicator& comm, CollectiveCall call, Verdict& verdict) {
  bool compressed = false;
  verdict = co_await comm.run(std::move(call), {}, &compressed);
}

// Makes two calls, which are under way at the same time.
inline Task<Verdict> start_both(Communicator& comm, CollectiveCall first, CollectiveCall second) {
  Verdict verdicts[2];
  Task<> calls[] = {start(comm, std::move(first), verdicts[0]), start(comm, std::move(second), verdicts[1])};
  co_await taut::all(calls);
  co_return verdicts[0].good() ? verdicts[1] : verdicts[0];
}

}  // namespace taut::test

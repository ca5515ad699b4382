#include "simulate.hpp"

#include <algorithm>

namespace simulation {
namespace {

constexpr std::size_t least_segment = std::size_t{8} << 10;  // bytes of a plain message in a segment

double total(const Spent& spent) { return spent.encode + spent.decode + spent.combine + spent.copy; }

Outcome simulate(const CollectiveCall& call, const PlannedCall& planned, const Link& link) {
  VirtualRanks ranks(call.ranks);
  VirtualNetwork network(ranks, link);
  Outcome outcome{.planned = planned};
  const Processor processor{[&](double seconds) { ranks.compute(seconds); }, [&] { ranks.block(); }};
  ranks.run([&](int rank) {
    taut::Transport& transport = network.transport(rank);
    const Spent spent = run_on_rank(call, outcome.planned, transport, processor);
    if (total(spent) > total(outcome.spent)) outcome.spent = spent;
    outcome.sent_bytes = std::max(outcome.sent_bytes, static_cast<double>(transport.traffic().bytes));
    outcome.seconds = ranks.now();
  });
  return outcome;
}

}  // namespace

Outcome simulate(const CollectiveCall& call, const Link& link) {
  return simulate(call, plans(call, link.bytes_a_second).front(), link);
}

Outcome simulate_settled(const CollectiveCall& call, const Link& link) {
  Outcome best;
  for (const PlannedCall& planned : plans(call, link.bytes_a_second)) {
    const Outcome outcome = simulate(call, planned, link);
    if (best.seconds == 0 || outcome.seconds < best.seconds) best = outcome;
  }
  return best;
}

Outcome simulate_plain(const CollectiveCall& call, const Link& link) {
  Outcome best;
  CollectiveCall plain = call;
  plain.policy.clear();
  for (const taut::AlgorithmInfo* const algorithm : taut::registered_algorithms()) {
    if (algorithm->collective != call.collective || algorithm->recodes) continue;
    plain.algorithm = algorithm->name;
    const std::size_t message = call.bytes / static_cast<std::size_t>(algorithm->parts(call.ranks));
    for (plain.segments = 1; plain.segments <= 16; plain.segments *= 4) {
      if (plain.segments > 1 && message / static_cast<std::size_t>(plain.segments) < least_segment) break;
      const Outcome outcome = simulate(plain, link);
      if (best.seconds == 0 || outcome.seconds < best.seconds) best = outcome;
    }
  }
  return best;
}

}  // namespace simulation

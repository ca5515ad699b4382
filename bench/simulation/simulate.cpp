#include "simulate.hpp"

#include <algorithm>

#include "communication/team/hierarchical.hpp"

namespace simulation {
namespace {

constexpr std::size_t least_segment = std::size_t{8} << 10;  // bytes of a plain message in a segment
constexpr double worthwhile = 0.99;  // greatest share of the best time for which an algorithm is simulated

// Replaces `best` by the algorithm of `whole` in several segments where that is faster. Segments do not
// change the bytes that a link carries, so what the link alone takes rules out most algorithms. Whole
// messages along a chain gain from more segments than blocks of a message do.
void try_segments(CollectiveCall& plain, const Link& link, const Outcome& whole, Outcome& best) {
  const taut::AlgorithmInfo& algorithm = *whole.planned.algorithm;
  const std::size_t message = plain.bytes / static_cast<std::size_t>(algorithm.parts(plain.ranks));
  plain.algorithm = algorithm.name;
  plain.levels = whole.planned.levels;
  const int most = algorithm.unit == taut::AlgorithmInfo::Unit::whole ? taut::max_segments : 16;
  for (plain.segments = 4; plain.segments <= most; plain.segments *= 4) {
    if (message / static_cast<std::size_t>(plain.segments) < least_segment) return;
    if (whole.link_bytes / (link.bytes_a_second * link.links) > worthwhile * best.seconds) return;
    const Outcome outcome = simulate(plain, link);
    if (outcome.seconds < best.seconds) best = outcome;
  }
}

// Returns the levels at which the uncompressed call may run.
std::vector<Levels> levels_of(const CollectiveCall& call, const Hosts& hosts) {
  std::vector<Levels> levels{Levels::flat};
  if (!hosts.are_shared()) return levels;
  const taut::Nodes nodes(hosts.of_rank);
  const std::size_t count = call.bytes / sizeof(float);
  if (nodes.several() && taut::runs_by_nodes(call.collective, count, call.ranks, nodes.equal()))
    levels.push_back(Levels::by_nodes);
  if (runs_by_leaders(call.collective)) levels.push_back(Levels::by_leaders);
  return levels;
}

}  // namespace

Outcome simulate(const CollectiveCall& call, const PlannedCall& planned, const Link& link) {
  VirtualRanks ranks(call.ranks);
  std::vector<CoreCache> caches(static_cast<std::size_t>(call.ranks), CoreCache(link.hosts.cache));
  VirtualNetwork network(ranks, link, caches);
  Outcome outcome{.planned = planned};
  ranks.run([&](int rank) {
    taut::Transport& transport = network.transport(rank);
    const auto compute = [&, rank](double seconds, double memory_bytes) {
      const double passed = memory_bytes > 0 ? network.passed_memory(rank, memory_bytes) - ranks.now() : 0;
      ranks.compute(std::max(seconds, passed));
    };
    const Processor processor{compute, [&] { ranks.block(); }, caches[static_cast<std::size_t>(rank)]};
    const Spent spent = run_on_rank(call, outcome.planned, link.hosts, transport, processor);
    if (spent.total() > outcome.spent.total()) outcome.spent = spent;
    outcome.sent_bytes = std::max(outcome.sent_bytes, static_cast<double>(transport.traffic().bytes));
    outcome.seconds = ranks.now();
  });
  outcome.link_bytes = network.most_link_bytes();
  return outcome;
}

Outcome simulate(const CollectiveCall& call, const Link& link) {
  return simulate(call, plans(call, link).front(), link);
}

Outcome simulate_settled(const CollectiveCall& call, const Link& link) {
  Outcome best;
  for (const PlannedCall& planned : plans(call, link)) {
    const Outcome outcome = simulate(call, planned, link);
    if (best.seconds == 0 || outcome.seconds < best.seconds) best = outcome;
  }
  return best;
}

Outcome simulate_plain(const CollectiveCall& call, const Link& link) {
  CollectiveCall plain = call;
  plain.policy.clear();
  std::vector<Outcome> whole;  // in one segment, by algorithm
  for (const taut::AlgorithmInfo* const algorithm : taut::registered_algorithms()) {
    if (algorithm->collective != call.collective || !algorithm->may_add_frames()) continue;
    plain.algorithm = algorithm->name;
    for (const Levels levels : levels_of(call, link.hosts)) {
      plain.levels = levels;
      whole.push_back(simulate(plain, link));
    }
  }
  std::ranges::sort(whole, {}, &Outcome::seconds);
  if (call.plain_whole || (call.plain_sum < no_time && reduces(call.collective))) return whole[0];
  Outcome best = whole[0];
  for (const Outcome& one : whole) try_segments(plain, link, one, best);
  return best;
}

}  // namespace simulation

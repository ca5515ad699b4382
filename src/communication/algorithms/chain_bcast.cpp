// Broadcast along a chain; segments make it a pipeline. Watts and van de Geijn, "A pipelined broadcast for
// multidimensional meshes", Parallel Process. Lett. 5 (1995); encoded once at the root: Huang et al.,
// "C-Coll", IPDPS 2024.
//   steps P-1 · messages of a rank 1 (the last one none) · encodes 1 (root) · decodes 1
//   error: the codec's bound, as the frame travels unchanged; the root keeps its own values, and decodes only
//   under same_bits=on (docs/adr/0075)
#include "communication/algorithms/costs.hpp"
#include "communication/team/relay.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int P = team.size(), me = mod(team.rank() - data.root, P);  // counted from the root
  const Slice values = team.whole(data.out);
  auto rank = [&](int i) { return mod(i + data.root, P); };

  // The frame goes on in packets while it arrives.
  Relay relay(team, rank(me - 1), rank(me + 1));
  if (me == 0) {
    relay.start(co_await team.encode(team.whole(data.in)), me + 1 < P);
  } else {
    co_await relay.pass(values, me + 1 < P);
  }
  co_await team.decode(relay.frame(), values);
  co_await relay.rest();  // until all packets are sent
}

}  // namespace

extern constinit const AlgorithmInfo chain_bcast{
    .name = "chain",
    .collective = Collective::bcast,
    .paper = "Watts and van de Geijn 1995",
    .unit = AlgorithmInfo::Unit::whole,
    .cost = [](int P) { return cost_of_chain(P, 1, 0, 1); },
    .growth = coded_once,
    .run = run,
};

}  // namespace taut::algorithms

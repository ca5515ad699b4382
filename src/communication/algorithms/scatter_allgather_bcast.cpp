// Broadcast as scatter and allgather. Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, "Interprocessor
// collective communication library", SHPCC 1994; Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 19 (2005); blocks encoded once at the root: Huang
// et al., "C-Coll", IPDPS 2024.
//   steps ceil(log2 P) + P-1 · messages of a rank P-1, of the root ceil(log2 P) more · encodes P (root)
//   · decodes P
//   error: the codec's bound, as frames travel unchanged; the root keeps its own values, and decodes only
//   under same_bits=on (docs/adr/0075)
#include "communication/algorithms/binomial.hpp"
#include "communication/algorithms/ring.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int me = team.rank();
  const Slice own = team.chunk(data.out, me);
  Frames frame = team.empty(own, 1);
  if (me == data.root) co_await team.encode(team.chunk(data.in, me), frame);
  {
    const Frames frames = co_await binomial_spread(team, data.in, team.chunk(data.out, 0), data.root);
    if (me != data.root) team.copy(frames, 0, frame);
  }
  co_await ring_allgather_frames(team, std::move(frame), data.out, own);
}

Cost cost(int P) {
  Cost cost = binomial_spread_cost(P);
  cost.steps += P - 1;
  cost.messages += P * (P - 1);
  cost.messages_a_rank += P - 1;
  cost.frames += P * (P - 1);
  cost.encodes = cost.decodes = P;
  return cost;
}

Scratch scratch(int P, int me) { return {.frames = me == 0 ? P : (P + 1) / 2, .buffers = 2}; }

}  // namespace

extern constinit const AlgorithmInfo scatter_allgather_bcast{
    .name = "scatter_allgather",
    .collective = Collective::bcast,
    .paper = "Barnett et al. 1994; Thakur, Rabenseifner and Gropp 2005",
    .unit = AlgorithmInfo::Unit::blocks,
    .cost = cost,
    .growth = coded_once,
    .run = run,
    .scratch = scratch,
};

}  // namespace taut::algorithms

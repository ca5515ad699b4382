// Broadcast as scatter and allgather. Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, "Interprocessor
// collective communication library", SHPCC 1994; Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 19 (2005); blocks encoded once at the root: Huang
// et al., "C-Coll", IPDPS 2024.
//   steps ceil(log2 P) + P-1 · messages of a rank P-1, of the root ceil(log2 P) more · encodes P (root)
//   · decodes P
//   error: the codec's bound; frames travel unchanged and the root decodes them as well
#include "algorithms/binomial.hpp"
#include "algorithms/ring.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int me = team.rank();
  const Slice own = team.chunk(data.out, me);
  Frame frame = me == data.root ? team.encode(own) : Frame();
  {
    const FrameBatch batch = co_await binomial_spread(team, data.out, team.chunk(data.out, 0), data.root);
    if (me != data.root) frame = team.copy(batch, 0, own);
  }
  co_await ring_share(team, std::move(frame), 1, data.out);
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

int growth(int, Arithmetic) { return 1; }

Scratch scratch(int P, int me) { return {.frames = me == 0 ? P : (P + 1) / 2, .buffers = 2}; }

}  // namespace

const AlgorithmInfo& scatter_allgather_bcast() {
  static constexpr AlgorithmInfo info{.name = "scatter_allgather",
                                      .collective = Collective::bcast,
                                      .paper = "Barnett et al. 1994; Thakur, Rabenseifner and Gropp 2005",
                                      .unit = AlgorithmInfo::Unit::batch,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run,
                                      .scratch = scratch};
  return info;
}

}  // namespace taut::algorithms

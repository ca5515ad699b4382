// Binomial scatter of frames. Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 19 (2005), section 4.2; blocks encoded once at the root: Huang
// et al., "C-Coll", IPDPS 2024.
//   steps ceil(log2 P) · messages of the root ceil(log2 P), P-1 in all · encodes P-1 (root)
//   · decodes 1 (not the root)
//   error: the codec's bound; the root's own block is copied
#include <algorithm>

#include "communication/algorithms/binomial.hpp"

namespace taut::algorithms {

int binomial_subtree(int me, int P) { return me == 0 ? P : std::min(me & -me, P - me); }

Task<Frames> binomial_spread(Team team, Blocks<ConstSlice> values, ConstSlice largest, int root) {
  const int P = team.size(), me = mod(team.rank() - root, P), mine = binomial_subtree(me, P);
  auto rank = [&](int i) { return mod(i + root, P); };
  const int first = std::max(me, 1);  // the first block in `frames`, counted from the root
  Frames frames;
  if (me == 0) {
    frames = co_await team.encode(values, root + 1, P - 1);
  } else {
    frames = team.empty(largest, mine);
    co_await team.recv(rank(me - (me & -me)), frames, mine);
  }
  // Each child gets the frames of its subtree, the largest first.
  for (int d = 1 << log2_ceil(mine); d > 0; d /= 2) {
    if (d < mine) co_await team.send(frames, me + d - first, binomial_subtree(me + d, P), rank(me + d));
  }
  co_return frames;
}

Cost binomial_spread_cost(int P) {
  Cost cost{.steps = log2_ceil(P),
            .messages = P - 1,
            .messages_a_rank = log2_ceil(P),
            .encodes = P - 1,
            .decodes = P > 1};
  for (int i = 1; i < P; ++i) cost.frames += binomial_subtree(i, P);
  return cost;
}

namespace {

Task<> run(Team team, Operands data) {
  const Slice own = team.whole(data.out);
  const Frames frames = co_await binomial_spread(team, data.in, own, data.root);
  if (team.rank() != data.root) {
    co_await team.decode(frames, 0, own);
  } else if (data.out.data != nullptr) {
    team.copy(team.chunk(data.in, data.root), own);
  }
}

Scratch scratch(int P, int me) { return {.frames = me == 0 ? P - 1 : (P + 1) / 2, .buffers = 1}; }

}  // namespace

extern constinit const AlgorithmInfo binomial_scatter{
    .name = "binomial",
    .collective = Collective::scatter,
    .paper = "Thakur, Rabenseifner and Gropp 2005",
    .unit = AlgorithmInfo::Unit::blocks,
    .cost = binomial_spread_cost,
    .growth = coded_once,
    .run = run,
    .scratch = scratch,
};

}  // namespace taut::algorithms

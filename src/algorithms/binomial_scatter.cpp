// Binomial scatter of bundles of frames. Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 19 (2005), section 4.2; blocks encoded once at the root: Huang
// et al., "C-Coll", IPDPS 2024.
//   steps ceil(log2 P) · messages of the root ceil(log2 P), P-1 in all · encodes P-1 (root) · decodes 1 (not
//   the root) error: the codec's bound; the root's own block is copied
#include <algorithm>
#include <cstring>

#include "core/algorithm.hpp"

namespace taut::algorithms {
namespace {

// The ranks of the subtree of `me`, itself included; ranks are counted from the root.
int subtree(int me, int P) { return me == 0 ? P : std::min(me & -me, P - me); }

Task<> run(Team team, Operands data) {
  const int P = team.size(), me = mod(team.rank() - data.root, P), mine = subtree(me, P);
  auto rank = [&](int i) { return mod(i + data.root, P); };
  Bundle bundle;  // the blocks of the subtree but, at the root, its own
  int first = me;
  if (me == 0) {
    first = 1;
    bundle = team.encode_blocks(data.in, data.root + 1, P - 1);
    const ConstSlice own = team.chunk(data.in, data.root);
    if (data.out.data != nullptr && own.count != 0)
      std::memmove(team.whole(data.out).data, own.data, own.bytes());
  } else {
    bundle = co_await team.recv_bundle(rank(me - (me & -me)), team.whole(data.out), mine);
  }
  // Each child gets its subtree, the largest first.
  for (int d = 1 << log2_ceil(mine); d > 0; d /= 2) {
    if (d < mine) co_await team.send(bundle, me + d - first, subtree(me + d, P), rank(me + d));
  }
  if (me != 0) team.decode(bundle, 0, team.whole(data.out));
}

Cost cost(int P) {
  Cost cost{.steps = log2_ceil(P),
            .messages = P - 1,
            .messages_a_rank = log2_ceil(P),
            .encodes = P - 1,
            .decodes = P > 1};
  for (int i = 1; i < P; ++i) cost.frames += subtree(i, P);
  return cost;
}

int growth(int, Arithmetic) { return 1; }

}  // namespace

const AlgorithmInfo& binomial_scatter() {
  static constexpr AlgorithmInfo info{.name = "binomial",
                                      .collective = Collective::scatter,
                                      .paper = "Thakur, Rabenseifner and Gropp 2005",
                                      .unit = AlgorithmInfo::Unit::bundle,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run};
  return info;
}

}  // namespace taut::algorithms

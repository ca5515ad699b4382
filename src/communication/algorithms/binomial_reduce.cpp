// Binomial reduce. Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
// MPICH", IJHPCA 19 (2005), section 4.6; partial results as frames: Huang et al., "hZCCL", SC24.
//   steps floor(log2 P) · messages P-1 · encodes 1 · combines ceil(log2 P) (root) · decodes 1 (root)
//   error of a sum: by frames P times the codec's bound; by values 2P-1 (P leaves and P-1 inner nodes of the
//   tree are encoded)
#include <bit>

#include "communication/team/algorithm.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int P = team.size(), me = mod(team.rank() - data.root, P);
  const ConstSlice values = team.whole(data.in);
  auto rank = [&](int i) { return mod(i + data.root, P); };

  // Before the step of distance d, `partial` holds the reduction over the ranks me .. me+d-1.
  Frames partial = co_await team.encode(values);
  for (int d = 1; d < P; d *= 2) {
    if ((me & d) != 0) {
      co_await team.send(partial, rank(me - d));
      co_return;
    }
    if (me + d >= P) continue;
    const Frames other = co_await team.recv(rank(me + d), values);
    partial = co_await team.combine(partial, other, data.op);
  }
  co_await team.decode(partial, team.whole(data.out));
}

Cost cost(int P) {
  const int k = log2_ceil(P);
  return {.steps = static_cast<int>(std::bit_width(static_cast<unsigned>(P))) - 1,
          .messages = P - 1,
          .messages_a_rank = P > 1,
          .frames = P - 1,
          .encodes = 1,
          .combines = k,
          .decodes = 1};
}

}  // namespace

extern constinit const AlgorithmInfo binomial_reduce{
    .name = "binomial",
    .collective = Collective::reduce,
    .paper = "Thakur, Rabenseifner and Gropp 2005",
    .unit = AlgorithmInfo::Unit::whole,
    .cost = cost,
    .growth = coded_in_a_tree,
    .run = run,
};

}  // namespace taut::algorithms

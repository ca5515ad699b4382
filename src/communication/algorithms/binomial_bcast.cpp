// Binomial broadcast of one frame. Thakur, Rabenseifner and Gropp, "Optimization of collective communication
// operations in MPICH", IJHPCA 19 (2005), section 4.3; encoded once at the root: Huang et al., "C-Coll",
// IPDPS 2024.
//   steps ceil(log2 P) · messages of the root ceil(log2 P), P-1 in all · encodes 1 (root) · decodes 1
//   error: the codec's bound, as the frame travels unchanged; the root keeps its own values, and decodes only
//   under same_bits=on (docs/adr/0075)
#include "communication/team/algorithm.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int P = team.size(), me = mod(team.rank() - data.root, P);  // counted from the root
  const Slice values = team.whole(data.out);
  auto rank = [&](int i) { return mod(i + data.root, P); };

  // The parent of a rank is the rank with its lowest bit cleared; below that bit are its children.
  int span = 1 << log2_ceil(P);
  Frames frame;
  if (me == 0) {
    frame = co_await team.encode(team.whole(data.in));
  } else {
    span = me & -me;
    frame = co_await team.recv(rank(me - span), values);
  }
  for (int d = span / 2; d > 0; d /= 2) {
    if (me + d < P) co_await team.send(frame, rank(me + d));
  }
  co_await team.decode(frame, values);
}

Cost cost(int P) {
  const int k = log2_ceil(P);
  return {.steps = k, .messages = P - 1, .messages_a_rank = k, .frames = P - 1, .encodes = 1, .decodes = 1};
}

}  // namespace

extern constinit const AlgorithmInfo binomial_bcast{
    .name = "binomial",
    .collective = Collective::bcast,
    .paper = "Thakur, Rabenseifner and Gropp 2005",
    .unit = AlgorithmInfo::Unit::whole,
    .cost = cost,
    .growth = coded_once,
    .run = run,
};

}  // namespace taut::algorithms

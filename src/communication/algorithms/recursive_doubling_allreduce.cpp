// Recursive doubling allreduce. Thakur, Rabenseifner and Gropp, "Optimization of collective communication
// operations in MPICH", IJHPCA 19 (2005), section 4.5; any P by folding the ranks beyond the largest power of
// two.
//   steps log2(P), two more when P is no power of two · encodes 1 · combines log2(P) (+1) · decodes 1
//   error of a sum: by frames P times the codec's bound; by values 2P-1 (P leaves and P-1 inner nodes of the
//   tree are encoded). The operands of a sum are ordered by rank, so that all ranks get the same bits.
#include "communication/team/algorithm.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int P = team.size(), me = team.rank(), Q = power_of_two_within(P), surplus = P - Q;
  const ConstSlice values = team.whole(data.in);
  Frames frame = co_await team.encode(values);

  // Fold: rank Q+i hands its frame to rank i and waits for the result.
  if (me >= Q) {
    co_await team.send(frame, me - Q);
    frame = co_await team.recv(me - Q, values);
  } else if (me < surplus) {
    Frames other = co_await team.recv(me + Q, values);
    frame = co_await team.combine(frame, other, data.op);
  }

  // Before the step of distance d, `frame` holds the reduction over the group of d ranks that me belongs to.
  for (int d = 1; d < Q && me < Q; d *= 2) {
    const int partner = me ^ d;
    Frames other = co_await team.exchange(frame, partner, partner, values);
    if (partner < me) std::swap(frame, other);
    frame = co_await team.combine(frame, other, data.op);
  }

  if (me < surplus) co_await team.send(frame, me + Q);
  co_await team.decode(frame, team.whole(data.out));
}

Cost cost(int P) {
  const int Q = power_of_two_within(P), surplus = P - Q, k = log2_ceil(Q), folds = surplus > 0 ? 1 : 0;
  return {.steps = k + 2 * folds,
          .messages = Q * k + 2 * surplus,
          .messages_a_rank = k + folds,
          .frames = Q * k + 2 * surplus,
          .encodes = 1,
          .combines = k + folds,
          .decodes = 1};
}

}  // namespace

extern constinit const AlgorithmInfo recursive_doubling_allreduce{
    .name = "recursive_doubling",
    .collective = Collective::allreduce,
    .paper = "Thakur, Rabenseifner and Gropp 2005",
    .unit = AlgorithmInfo::Unit::whole,
    .cost = cost,
    .growth = coded_in_a_tree,
    .run = run,
};

}  // namespace taut::algorithms

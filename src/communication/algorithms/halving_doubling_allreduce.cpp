// Rabenseifner's allreduce: reduce-scatter by recursive halving, allgather by recursive doubling. R.
// Rabenseifner, "Optimization of collective reduction operations", ICCS 2004; Thakur, Rabenseifner and Gropp,
// "Optimization of collective communication operations in MPICH", IJHPCA 19 (2005). Q is the largest power of
// two up to P; ranks beyond Q are folded, and a message is cut into Q blocks.
//   steps 2 log2(Q), two more if P is not Q · encodes Q/2 of Q blocks · combines Q-1 · decodes Q; if ranks
//   are folded, some ranks encode Q blocks or combine Q more
//   error of a sum: by frames P times the codec's bound; by values P-1 + Q/2 + ceil((P-Q)/2): the blocks
//   that a rank keeps in the first step are encoded only as part of a sum
#include <algorithm>

#include "communication/team/algorithm.hpp"

namespace taut::algorithms {
namespace {

// Returns the block that rank `me` ends with. The bits of `me`, the lowest first, tell the half that the rank
// keeps in each step.
int last_block(int me, int Q) {
  int block = 0;
  for (int d = 1, n = Q / 2; d < Q; d *= 2, n /= 2)
    if ((me & d) != 0) block += n;
  return block;
}

// Recursive halving by the ranks below Q. `partial` holds all blocks of the sum with the folded rank, or is
// empty if no rank was folded into this one.
Task<Frames> halve(Team team, Operands data, Frames partial, int Q) {
  const int me = team.rank(), surplus = team.size() - Q;
  if (Q == 1) co_return co_await team.encode(data.in, 0, 1);
  // After the step of distance d, `partial` holds n blocks, reduced over the group of 2d ranks that me is in.
  for (int d = 1, n = Q / 2; d < Q; d *= 2, n /= 2) {
    const int partner = me ^ d, keep = (me & d) != 0 ? n : 0, give = n - keep;
    Frames theirs = team.empty(team.chunk(data.in, 0), n);
    if (d == 1 && me >= surplus) {
      const Frames mine = co_await team.encode(data.in, give, n);
      co_await team.exchange(mine, 0, n, partner, partner, theirs);
      partial = co_await team.combine(theirs, data.in, keep, n, data.op);
    } else {
      co_await team.exchange(partial, give, n, partner, partner, theirs);
      partial = co_await team.combine(partial, keep, n, theirs, data.op);
    }
  }
  co_return partial;
}

Task<> run(Team ranks, Operands data) {
  const int P = ranks.size(), me = ranks.rank(), Q = power_of_two_within(P), surplus = P - Q;
  Team team = ranks.in_blocks(Q);
  const Slice largest = team.chunk(data.out, 0);
  Frames totals;  // as in FinalFrames

  // Fold: rank Q+i hands its blocks to rank i and waits for the result.
  if (me >= Q) {
    const Frames mine = co_await team.encode(data.in, 0, Q);
    co_await team.send(mine, 0, Q, me - Q);
    totals = team.empty(largest, Q);
    co_await team.recv(me - Q, totals, Q);
  } else {
    Frames partial;
    if (me < surplus) {
      Frames other = team.empty(largest, Q);
      co_await team.recv(me + Q, other, Q);
      partial = co_await team.combine(other, data.in, 0, Q, data.op);
    }
    const Frames total = co_await halve(team, data, std::move(partial), Q);
    totals = team.empty(largest, Q);
    team.copy(total, 0, totals);
    // Recursive doubling: the last blocks of partners at distance d differ in the bit of value n.
    for (int d = Q / 2, n = 1; d > 0; d /= 2, n *= 2)
      co_await team.exchange(totals, 0, n, me ^ d, me ^ d, totals);
    if (me < surplus) co_await team.send(totals, 0, Q, me + Q);
  }
  const int first = last_block(me % Q, Q);
  if (data.totals != nullptr) {
    *data.totals = {std::move(totals), first};
    co_return;
  }
  DecodeBatch batch(team);
  for (int i = 0; i < Q; ++i) co_await batch.add(totals, i, team.chunk(data.out, i ^ first));
  co_await batch.rest();
}

Cost cost(int P) {
  const int Q = power_of_two_within(P), surplus = P - Q, k = log2_ceil(Q), folds = surplus > 0 ? 1 : 0;
  return {.steps = 2 * (k + folds),
          .messages = 2 * (Q * k + surplus),
          .messages_a_rank = 2 * k + folds,
          .frames = 2 * Q * (Q - 1 + surplus),
          .encodes = folds > 0 ? Q : std::max(Q / 2, 1),
          .combines = Q - 1 + folds * Q,
          .decodes = Q};
}

int growth(int P, Arithmetic how) {
  const int Q = power_of_two_within(P);
  return how == Arithmetic::frames ? P : std::max(P - 1 + Q / 2 + (P - Q + 1) / 2, 1);
}

Scratch scratch(int P, int) { return {.frames = power_of_two_within(P), .buffers = 3}; }

}  // namespace

extern constinit const AlgorithmInfo halving_doubling_allreduce{
    .name = "halving_doubling",
    .collective = Collective::allreduce,
    .paper = "Rabenseifner 2004; Thakur, Rabenseifner and Gropp 2005",
    .unit = AlgorithmInfo::Unit::blocks,
    .cost = cost,
    .growth = growth,
    .run = run,
    .scratch = scratch,
    .blocks = power_of_two_within,
    .hands_over_frames = true,
};

}  // namespace taut::algorithms

// Collectives by point-to-point calls that compress each message before sending and decompress it after
// receiving: the baseline (CPR-P2P) of Huang et al., "C-Coll", IPDPS 2024, and Zhou et al., "Designing
// high-performance MPI libraries with on-the-fly compression for modern GPU clusters", IPDPS 2021. For
// comparison; never chosen automatically. Ring allreduce, reduce-scatter and allgather, binomial broadcast
// and scatter (s: blocks of the largest subtree below the root):
//
//                   steps          messages of a rank               encodes             combines   decodes
//   allreduce       2(P-1)         2(P-1)                           P-1                 P-1        P
//   reduce_scatter  P-1            P-1                              1                   P-1        -
//   allgather       P-1            P-1                              P-1                 -          P
//   bcast           ceil(log2 P)   root ceil(log2 P), P-1 in all    root ceil(log2 P)   -          1
//   scatter         ceil(log2 P)   root ceil(log2 P), P-1 in all    root P-1            -          s
//
//   A rank whose own values stay as they are decodes one frame less in an allgather, and none in a broadcast.
//
//   error: of moved data one bound for each hop (one, if the codec is idempotent): P-1, by the trees
//   ceil(log2 P); of a sum P-1 from the reduce-scatter; of an allreduce 2(P-1), as its sums are coded once
//   more and then at each later hop (P, if the codec is idempotent)
#include <algorithm>

#include "communication/algorithms/binomial.hpp"
#include "communication/algorithms/costs.hpp"
#include "communication/algorithms/ring.hpp"

namespace taut::algorithms {
namespace {

Task<> recoding_allgather(Team team, Frames mine, Blocks<Slice> values, Slice own) {
  const int P = team.size(), me = team.rank();
  const int left = mod(me - 1, P), right = mod(me + 1, P);
  auto chunk = [&](int i) { return team.chunk(values, i); };

  Frames frame = std::move(mine);
  co_await team.decode(frame, own);  // as all other ranks will do
  for (int s = 0; s < P - 1; ++s) {
    const Slice next = chunk(me - s - 1);
    frame = co_await team.exchange(frame, right, left, next);
    const Status known = co_await team.decode(frame, next);
    if (s < P - 2) frame = co_await team.encode(next, known);
  }
}

Task<> allgather(Team team, Operands data) {
  Frames mine = co_await team.encode(team.whole(data.in));
  co_await recoding_allgather(team, std::move(mine), data.out, own_block(team, data));
}

Task<> allreduce(Team team, Operands data) {
  Frames total = co_await ring_reduce(team, data.in, data.op);
  co_await recoding_allgather(team, std::move(total), data.out, team.chunk(data.out, team.rank()));
}

// Ring reduce-scatter. The last sum stays uncoded, because no hop follows it.
Task<> reduce_scatter(Team team, Operands data) {
  const int P = team.size(), me = team.rank();
  const int left = mod(me - 1, P), right = mod(me + 1, P);
  const Slice sum = team.whole(data.out);
  auto chunk = [&](int i) { return team.chunk(data.in, i); };

  Frames partial;
  if (P > 1) partial = co_await team.encode(chunk(me - 1));
  for (int s = 0; s < P - 2; ++s) {
    const ConstSlice own = chunk(me - s - 2);
    const Frames other = co_await team.exchange(partial, right, left, own);
    partial = co_await team.combine(other, own, data.op);
  }
  Frames other;
  if (P > 1) other = co_await team.exchange(partial, right, left, chunk(me));
  team.copy(chunk(me), sum);
  if (P > 1) co_await team.reduce(other, sum, data.op);
}

Task<> bcast(Team team, Operands data) {
  const int P = team.size(), me = mod(team.rank() - data.root, P);  // counted from the root
  const Slice values = team.whole(data.out);
  const ConstSlice source = me == 0 ? team.whole(data.in) : ConstSlice(values);
  auto rank = [&](int i) { return mod(i + data.root, P); };

  // The parent of a rank is the rank with its lowest bit cleared; below that bit are its children.
  int span = 1 << log2_ceil(P);
  Status known = Status::ok;
  if (me != 0) {
    span = me & -me;
    known = co_await team.decode(co_await team.recv(rank(me - span), values), values);
  }
  Frames frame;
  for (int d = span / 2; d > 0; d /= 2) {
    if (me + d >= P) continue;
    frame = co_await team.encode(source, known);
    co_await team.send(frame, rank(me + d));
  }
  if (me != 0) co_return;
  if (P > 1)
    co_await team.decode(frame, values);  // as all other ranks have done
  else
    team.copy(source, values);
}

// Binomial scatter. A rank decodes the blocks of its subtree into the memory of its own block, one after the
// other, and encodes them again for its children.
Task<> scatter(Team team, Operands data) {
  const int P = team.size(), me = mod(team.rank() - data.root, P), mine = binomial_subtree(me, P);
  const Slice own = team.whole(data.out);
  auto rank = [&](int i) { return mod(i + data.root, P); };

  Frames received;  // frames of the subtree, that of the own block first
  if (me != 0) {
    received = team.empty(own, mine);
    co_await team.recv(rank(me - (me & -me)), received, mine);
  }
  for (int d = power_of_two_within(mine); d > 0; d /= 2) {
    if (d == mine) continue;
    const int n = binomial_subtree(me + d, P);
    Frames message;
    if (me == 0) {
      message = co_await team.encode(data.in, data.root + d, n);
    } else {
      message = team.empty(own, n);
      for (int i = d; i < d + n; ++i) {
        const Status known = co_await team.decode(received, i, own);
        co_await team.encode(own, message, known);
      }
    }
    co_await team.send(message, 0, n, rank(me + d));
  }
  if (me != 0)
    co_await team.decode(received, 0, own);
  else if (data.out.data != nullptr)
    team.copy(team.chunk(data.in, data.root), own);
}

Cost cost_of_scatter(int P) {
  Cost cost = binomial_spread_cost(P);
  for (int i = 1; i < P; ++i) cost.decodes = std::max(cost.decodes, binomial_subtree(i, P));
  return cost;
}

Scratch scratch_of_scatter(int P, int me) { return {.frames = (P + 1) / 2, .buffers = me == 0 ? 1 : 2}; }

Cost cost_of_bcast(int P) {
  const int k = log2_ceil(P);
  return {
      .steps = k, .messages = P - 1, .messages_a_rank = k, .frames = P - 1, .encodes = k, .decodes = P > 1};
}

}  // namespace

extern constinit const AlgorithmInfo cpr_p2p_allgather{
    .name = "cpr_p2p",
    .collective = Collective::allgather,
    .paper = "Huang et al. 2024; Zhou et al. 2021",
    .unit = AlgorithmInfo::Unit::block,
    .cost = [](int P) { return cost_of_exchanges(P, P - 1, std::max(P - 1, 1), 0, P); },
    .growth = [](int P, Arithmetic) { return std::max(P - 1, 1); },
    .run = allgather,
    .any_blocks = true,
    .recodes = true,
};

extern constinit const AlgorithmInfo cpr_p2p_allreduce{
    .name = "cpr_p2p",
    .collective = Collective::allreduce,
    .paper = "Huang et al. 2024; Zhou et al. 2021",
    .unit = AlgorithmInfo::Unit::block,
    .cost = [](int P) { return cost_of_exchanges(P, 2 * (P - 1), std::max(P - 1, 1), P - 1, P); },
    .growth = [](int P, Arithmetic) { return std::max(2 * (P - 1), 1); },
    .run = allreduce,
    .recodes = true,
};

extern constinit const AlgorithmInfo cpr_p2p_reduce_scatter{
    .name = "cpr_p2p",
    .collective = Collective::reduce_scatter,
    .paper = "Huang et al. 2024; Zhou et al. 2021",
    .unit = AlgorithmInfo::Unit::block,
    .cost = [](int P) { return cost_of_exchanges(P, P - 1, P > 1, P - 1, 0); },
    .growth = [](int P, Arithmetic) { return std::max(P - 1, 1); },
    .run = reduce_scatter,
    .any_blocks = true,
    .recodes = true,
};

extern constinit const AlgorithmInfo cpr_p2p_bcast{
    .name = "cpr_p2p",
    .collective = Collective::bcast,
    .paper = "Huang et al. 2024; Zhou et al. 2021",
    .unit = AlgorithmInfo::Unit::whole,
    .cost = cost_of_bcast,
    .growth = [](int P, Arithmetic) { return std::max(log2_ceil(P), 1); },
    .run = bcast,
    .recodes = true,
};

extern constinit const AlgorithmInfo cpr_p2p_scatter{
    .name = "cpr_p2p",
    .collective = Collective::scatter,
    .paper = "Huang et al. 2024; Zhou et al. 2021",
    .unit = AlgorithmInfo::Unit::blocks,
    .cost = cost_of_scatter,
    .growth = [](int P, Arithmetic) { return std::max(log2_ceil(P), 1); },
    .run = scatter,
    .scratch = scratch_of_scatter,
    .recodes = true,
};

}  // namespace taut::algorithms

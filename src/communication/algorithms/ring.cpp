// Ring reduce-scatter and allgather, and the collectives made of them. Patarasuk and Yuan, "Bandwidth optimal
// all-reduce algorithms for clusters of workstations", J. Parallel Distrib. Comput. 69 (2009); allgather:
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19
// (2005), section 4.1; reduce as reduce-scatter and gather: section 4.6 there. With compression: Huang et
// al., "C-Coll", IPDPS 2024 (by values; finished frames are forwarded unchanged), "hZCCL", SC24 (by frames).
//
//                   steps    messages of a rank      encodes   combines   decodes
//   reduce_scatter  P-1      P-1                     1         P-1        1
//   allgather       P-1      P-1                     1         -          P (P-1 if the own block stays)
//   allreduce       2(P-1)   2(P-1)                  1         P-1        P
//   reduce          P        P, of the root P-1      1         P-1        P (root)
//
//   error of a sum: P times the codec's bound, by frames (each value is encoded once) and by values (P
//   encodings on the way of a partial sum); the allgather adds none: all ranks decode the same bytes
#include "communication/algorithms/ring.hpp"

#include "communication/algorithms/costs.hpp"
#include "communication/team/relay.hpp"

namespace taut::algorithms {

Task<Frames> ring_reduce(Team team, Blocks<ConstSlice> values, Reduction op) {
  const int P = team.size(), me = team.rank();
  const int left = mod(me - 1, P), right = mod(me + 1, P);
  auto chunk = [&](int i) { return team.chunk(values, i); };

  // After step s, `partial` holds block me-s-2, reduced over the s+2 ranks me-s-1 .. me; at the end block me.
  Frames partial = co_await team.encode(chunk(me - 1));
  for (int s = 0; s < P - 1; ++s) {
    const ConstSlice own = chunk(me - s - 2);
    Frames other = co_await team.exchange(partial, right, left, own);
    partial = co_await team.combine(other, own, op);
  }
  co_return partial;
}

Task<> ring_allgather_frames(Team team, Frames mine, Blocks<Slice> values, Slice own) {
  const int P = team.size(), me = team.rank();
  const int left = mod(me - 1, P), right = mod(me + 1, P);
  auto chunk = [&](int i) { return team.chunk(values, i); };

  // After step s, the blocks me-s-1 .. me are in place. The relay has the frame of block me-s-1, and passes
  // it on while it arrives, except in the last step.
  Relay relay(team, left, right);
  relay.start(std::move(mine), P > 1);
  co_await team.decode(relay.frame(), own);
  for (int s = 0; s < P - 1; ++s) {
    const Slice next = chunk(me - s - 1);
    co_await relay.pass(next, s + 2 < P);
    co_await team.decode(relay.frame(), next);
  }
  co_await relay.rest();  // until all packets are sent
}

namespace {

Task<> reduce_scatter(Team team, Operands data) {
  const Frames total = co_await ring_reduce(team, data.in, data.op);
  co_await team.decode(total, team.whole(data.out));
}

Task<> allgather(Team team, Operands data) {
  Frames mine = co_await team.encode(team.whole(data.in));
  co_await ring_allgather_frames(team, std::move(mine), data.out, own_block(team, data));
}

Task<> allreduce(Team team, Operands data) {
  Frames total = co_await ring_reduce(team, data.in, data.op);
  co_await ring_allgather_frames(team, std::move(total), data.out, team.chunk(data.out, team.rank()));
}

Task<> reduce(Team team, Operands data) {
  const int P = team.size(), me = team.rank();
  const Frames total = co_await ring_reduce(team, data.in, data.op);
  if (me != data.root) {
    co_await team.send(total, data.root);
    co_return;
  }
  co_await team.decode(total, team.chunk(data.out, me));
  for (int i = 1; i < P; ++i) {
    const Slice block = team.chunk(data.out, me + i);
    co_await team.decode(co_await team.recv(mod(me + i, P), block), block);
  }
}

Cost cost_of_reduce(int P) {
  Cost cost = cost_of_exchanges(P, P - 1, 1, P - 1, P);
  cost.steps += P > 1;
  cost.messages += P - 1;
  cost.messages_a_rank += P > 1;
  cost.frames += P - 1;
  return cost;
}

}  // namespace

extern constinit const AlgorithmInfo ring_reduce_scatter{
    .name = "ring",
    .collective = Collective::reduce_scatter,
    .paper = "Patarasuk and Yuan 2009",
    .unit = AlgorithmInfo::Unit::block,
    .cost = [](int P) { return cost_of_exchanges(P, P - 1, 1, P - 1, 1); },
    .growth = coded_by_each_rank,
    .run = reduce_scatter,
    .any_blocks = true,
};

extern constinit const AlgorithmInfo ring_allgather{
    .name = "ring",
    .collective = Collective::allgather,
    .paper = "Thakur, Rabenseifner and Gropp 2005",
    .unit = AlgorithmInfo::Unit::block,
    .cost = [](int P) { return cost_of_exchanges(P, P - 1, 1, 0, P); },
    .growth = coded_once,
    .run = allgather,
    .any_blocks = true,
};

extern constinit const AlgorithmInfo ring_allreduce{
    .name = "ring",
    .collective = Collective::allreduce,
    .paper = "Patarasuk and Yuan 2009; Huang et al. 2024",
    .unit = AlgorithmInfo::Unit::block,
    .cost = [](int P) { return cost_of_exchanges(P, 2 * (P - 1), 1, P - 1, P); },
    .growth = coded_by_each_rank,
    .run = allreduce,
};

extern constinit const AlgorithmInfo ring_reduce_to_root{
    .name = "ring",
    .collective = Collective::reduce,
    .paper = "Thakur, Rabenseifner and Gropp 2005; Patarasuk and Yuan 2009",
    .unit = AlgorithmInfo::Unit::block,
    .cost = cost_of_reduce,
    .growth = coded_by_each_rank,
    .run = reduce,
};

}  // namespace taut::algorithms

// Direct exchange: reduce-scatter and allgather in which every rank sends to every other rank, and the
// two-shot allreduce made of them, whose frames cross the network twice, whatever P is. The pairwise exchange
// and the long-message alltoall of Thakur, Rabenseifner and Gropp, "Optimization of collective communication
// operations in MPICH", IJHPCA 19 (2005), with several messages in flight and one sum of the received frames;
// the allreduce: Rabenseifner, "Optimization of collective reduction operations", ICCS 2004. Frames: Huang et
// al., "C-Coll", IPDPS 2024, "hZCCL", SC24.
//
//                   steps                      messages of a rank   encodes   combines   decodes
//   reduce_scatter  P-1, independent           P-1                  P         P-1        1
//   allgather       P-1, independent           P-1                  1         -          P (P-1 if the own
//                                                                                        block stays)
//   allreduce       the first, then the other  2(P-1)               P         P-1        P
//
//   combines: up to 7 at once
//   error of a sum: by frames P times the codec's bound; by values one more for each batch of 7 frames
//
// In the order of the ranks (`rank_order`), each rank decodes the blocks that it receives and reduces them
// and its own in a wider type, from rank 0 on. The own block is neither coded nor sent: P-1 encodes and
// decodes, no combine.
#include <algorithm>
#include <array>

#include "communication/algorithms/costs.hpp"
#include "communication/team/message_batch.hpp"

namespace taut::algorithms {
namespace {

// Sends the blocks at the distances first .. last - 1 from this rank, each to its rank. The frame of the own
// block, at distance 0, is stored in `own`. Blocks that are encoded together are sent together.
Task<> send_blocks(Team& team, const Blocks<ConstSlice>& values, int first, int last, MessageBatch& messages,
                   Frames& own) {
  const int P = team.size(), me = team.rank();
  std::array<Frames, CodecOperations::max_batch> frames;
  for (int d = first, n; d < last; d += n) {
    n = std::min(team.batch(), last - d);
    co_await team.encode(values, me + d, std::span(frames).first(static_cast<std::size_t>(n)));
    for (int i = 0; i < n; ++i) {
      Frames& frame = frames[static_cast<std::size_t>(i)];
      if (d + i == 0)
        own = std::move(frame);
      else
        messages.send(std::move(frame), mod(me + d + i, P));
    }
  }
}

// Rank r ends with the frame of block r of the reduction.
Task<Frames> direct_reduce(Team team, Blocks<ConstSlice> values, Reduction op) {
  const int P = team.size(), me = team.rank();
  auto chunk = [&](int i) { return team.chunk(values, i); };

  // After a batch, `total` holds block me, reduced over the ranks me-last+1 .. me (modulo P).
  Frames total;
  if (P == 1) total = co_await team.encode(chunk(me));
  for (int first = 1; first < P; first += MessageBatch::most) {
    const int last = std::min(first + MessageBatch::most, P);
    MessageBatch messages(team);
    for (int d = first; d < last; ++d) messages.recv(mod(me - d, P), chunk(me));
    co_await send_blocks(team, values, first == 1 ? 0 : first, last, messages, total);
    std::array<Frames, MessageBatch::most> others;
    for (int i = 0; i < last - first; ++i) others[static_cast<std::size_t>(i)] = co_await messages[i];
    total = co_await team.combine(total, std::span(others).first(static_cast<std::size_t>(last - first)), op);
    co_await messages;
  }
  co_return total;
}

// `mine` is the frame of block `rank`. Every rank ends with all blocks decoded, its own in `own`.
Task<> direct_allgather_frames(Team team, Frames mine, Blocks<Slice> values, Slice own) {
  const int P = team.size(), me = team.rank();
  auto chunk = [&](int i) { return team.chunk(values, i); };

  int first = 1;
  do {
    const int last = std::min(first + MessageBatch::most, P);
    MessageBatch messages(team);
    DecodeBatch batch(team);
    for (int d = first; d < last; ++d) messages.recv(mod(me - d, P), chunk(me - d));
    for (int d = first; d < last; ++d) messages.send(mine, mod(me + d, P));
    if (first == 1) co_await batch.add(mine, 0, own);  // while frames are in flight
    for (int d = first; d < last; ++d) co_await batch.add(co_await messages[d - first], chunk(me - d));
    co_await batch.rest();
    co_await messages;
  } while ((first += MessageBatch::most) < P);
}

Task<> reduce_scatter(Team team, Operands data) {
  const Frames total = co_await direct_reduce(team, data.in, data.op);
  co_await team.decode(total, team.whole(data.out));
}

// `result` <- this rank's block of the reduction, whose operands are taken in the order of the ranks. Yields
// the first failure.
Task<Status> reduce_in_rank_order(Team team, Operands data, Slice result) {
  const int P = team.size(), me = team.rank();
  const Buffer operands = team.blocks_of_values(result, P);
  auto operand = [&](int rank) {
    std::byte* const first = operands.data();
    return Slice{
        {first == nullptr ? nullptr : first + mod(rank, P) * static_cast<std::ptrdiff_t>(result.bytes()),
         result.count, result.type}};
  };

  Status status = operands.data() == nullptr ? Status::out_of_memory : Status::ok;
  for (int first = 1; first < P; first += MessageBatch::most) {
    const int last = std::min(first + MessageBatch::most, P);
    MessageBatch messages(team);
    Frames own;
    for (int d = first; d < last; ++d) messages.recv(mod(me - d, P), result);
    co_await send_blocks(team, data.in, first, last, messages, own);
    for (int d = first; d < last; ++d) {
      const Frames frame = co_await messages[d - first];
      const Status decoded = co_await team.decode(frame, operand(me - d));
      if (status == Status::ok) status = decoded;
    }
    co_await messages;
  }
  team.copy(team.chunk(data.in, me), operand(me));
  if (status == Status::ok) status = team.reduce_widely(operands, P, result, data.op, data.mean ? P : 1);
  co_return status;
}

Task<> reduce_scatter_in_rank_order(Team team, Operands data) {
  co_await reduce_in_rank_order(team, data, team.whole(data.out));
}

Task<> allreduce_in_rank_order(Team team, Operands data) {
  const Slice own = team.chunk(data.out, team.rank());
  const Status status = co_await reduce_in_rank_order(team, data, own);
  Frames mine = co_await team.encode(own, status);
  co_await direct_allgather_frames(team, std::move(mine), data.out, own);
}

Task<> allgather(Team team, Operands data) {
  Frames mine = co_await team.encode(team.whole(data.in));
  co_await direct_allgather_frames(team, std::move(mine), data.out, own_block(team, data));
}

Task<> allreduce(Team team, Operands data) {
  Frames total = co_await direct_reduce(team, data.in, data.op);
  co_await direct_allgather_frames(team, std::move(total), data.out, team.chunk(data.out, team.rank()));
}

int growth(int P, Arithmetic how) {
  const int batches = (P - 1 + MessageBatch::most - 1) / MessageBatch::most;
  return how == Arithmetic::frames ? P : P + batches;
}

Scratch scratch_of_reduce(int P, int) {
  return {.frames = 1, .buffers = 2 * std::min(P - 1, MessageBatch::most) + 2};
}
Scratch scratch_in_rank_order(int P, int) {
  return {.frames = 1, .buffers = 2 * std::min(P - 1, MessageBatch::most) + 1, .blocks = P};
}
Scratch scratch_of_allgather(int P, int) {
  return {.frames = 1, .buffers = std::min(P - 1, MessageBatch::most) + 1};
}

}  // namespace

extern constinit const AlgorithmInfo direct_reduce_scatter{
    .name = "direct",
    .collective = Collective::reduce_scatter,
    .paper = "Thakur, Rabenseifner and Gropp 2005",
    .unit = AlgorithmInfo::Unit::block,
    .cost = [](int P) { return cost_of_exchanges(P, P - 1, P, P - 1, 1); },
    .growth = growth,
    .run = reduce_scatter,
    .any_blocks = true,
    .scratch = scratch_of_reduce,
};

extern constinit const AlgorithmInfo direct_allgather{
    .name = "direct",
    .collective = Collective::allgather,
    .paper = "Thakur, Rabenseifner and Gropp 2005",
    .unit = AlgorithmInfo::Unit::block,
    .cost = [](int P) { return cost_of_exchanges(P, P - 1, 1, 0, P); },
    .growth = coded_once,
    .run = allgather,
    .any_blocks = true,
    .scratch = scratch_of_allgather,
};

extern constinit const AlgorithmInfo two_shot_allreduce{
    .name = "two_shot",
    .collective = Collective::allreduce,
    .paper = "Rabenseifner 2004; Thakur, Rabenseifner and Gropp 2005",
    .unit = AlgorithmInfo::Unit::block,
    .cost = [](int P) { return cost_of_exchanges(P, 2 * (P - 1), P, P - 1, P); },
    .growth = growth,
    .run = allreduce,
    .scratch = scratch_of_reduce,
};

extern constinit const AlgorithmInfo rank_order_reduce_scatter{
    .name = "rank_order",
    .collective = Collective::reduce_scatter,
    .paper = "Thakur, Rabenseifner and Gropp 2005",
    .unit = AlgorithmInfo::Unit::block,
    .cost = [](int P) { return cost_of_exchanges(P, P - 1, P - 1, 0, P - 1); },
    .growth = coded_by_each_rank,
    .run = reduce_scatter_in_rank_order,
    .any_blocks = true,
    .scratch = scratch_in_rank_order,
    .in_rank_order = true,
};

extern constinit const AlgorithmInfo rank_order_allreduce{
    .name = "rank_order",
    .collective = Collective::allreduce,
    .paper = "Rabenseifner 2004; Thakur, Rabenseifner and Gropp 2005",
    .unit = AlgorithmInfo::Unit::block,
    .cost = [](int P) { return cost_of_exchanges(P, 2 * (P - 1), P, 0, 2 * P - 1); },
    .growth = coded_by_each_rank,
    .run = allreduce_in_rank_order,
    .scratch = scratch_in_rank_order,
    .in_rank_order = true,
};

}  // namespace taut::algorithms

// Bruck allgather of finished frames. Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for
// all-to-all communications in multiport message-passing systems", IEEE Trans. Parallel Distrib. Syst. 8
// (1997); frames forwarded unchanged: Huang et al., "C-Coll", IPDPS 2024.
//   steps ceil(log2 P) · messages of a rank ceil(log2 P), P-1 frames in them · encodes 1
//   · decodes P (P-1 if the own block stays)
//   error: the codec's bound; each value is encoded once, and all ranks decode the same bytes
#include <algorithm>

#include "communication/team/algorithm.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int P = team.size(), me = team.rank();
  auto chunk = [&](int i) { return team.chunk(data.out, i); };

  // Before the step of distance d, `blocks` holds the frames of blocks me .. me+d-1.
  Frames blocks = team.empty(chunk(0), P);
  co_await team.encode(team.whole(data.in), blocks);
  for (int d = 1; d < P; d *= 2)
    co_await team.exchange(blocks, 0, std::min(d, P - d), mod(me - d, P), mod(me + d, P), blocks);
  DecodeBatch batch(team);
  co_await batch.add(blocks, 0, own_block(team, data));
  for (int i = 1; i < P; ++i) co_await batch.add(blocks, i, chunk(me + i));
  co_await batch.rest();
}

Cost cost(int P) {
  const int k = log2_ceil(P);
  return {.steps = k,
          .messages = P * k,
          .messages_a_rank = k,
          .frames = P * (P - 1),
          .encodes = 1,
          .combines = 0,
          .decodes = P};
}

Scratch scratch(int P, int) { return {.frames = P, .buffers = 1}; }

}  // namespace

extern constinit const AlgorithmInfo bruck_allgather{
    .name = "bruck",
    .collective = Collective::allgather,
    .paper = "Bruck, Ho, Kipnis, Upfal and Weathersby 1997",
    .unit = AlgorithmInfo::Unit::blocks,
    .cost = cost,
    .growth = coded_once,
    .run = run,
    .scratch = scratch,
};

}  // namespace taut::algorithms

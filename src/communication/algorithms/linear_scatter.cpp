// Linear scatter: the root sends every rank its block. In any algorithm all blocks cross the root's link; in
// this one no rank needs the sizes of other ranks' blocks. Encoded once at the root: Huang et al., "C-Coll",
// IPDPS 2024.
//   steps 1, P-1 at the root · messages P-1 · encodes P-1 (root) · decodes 1 (not the root)
//   error: the codec's bound; the root's own block is copied
#include "communication/team/algorithm.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int P = team.size(), me = team.rank();
  const Slice own = team.whole(data.out);
  if (me != data.root) {
    co_await team.decode(co_await team.recv(data.root, own), own);
    co_return;
  }
  for (int i = 1; i < P; ++i) {
    const Frames frame = co_await team.encode(team.chunk(data.in, me + i));
    co_await team.send(frame, mod(me + i, P));
  }
  if (data.out.data != nullptr) team.copy(team.chunk(data.in, me), own);
}

Cost cost(int P) {
  return {.steps = P - 1,
          .messages = P - 1,
          .messages_a_rank = P - 1,
          .frames = P - 1,
          .encodes = P - 1,
          .decodes = P > 1};
}

}  // namespace

extern constinit const AlgorithmInfo linear_scatter{
    .name = "linear",
    .collective = Collective::scatter,
    .paper = "Huang et al. 2024",
    .unit = AlgorithmInfo::Unit::block,
    .cost = cost,
    .growth = coded_once,
    .run = run,
    .any_blocks = true,
    .scratch = [](int, int) { return Scratch{.buffers = 1}; },
};

}  // namespace taut::algorithms

// Linear gather: every rank sends its frame directly to the root. In any algorithm each frame crosses the
// root's link once. Encoded once by the rank that has the values: Huang et al., "C-Coll", IPDPS 2024.
//   steps 1 for each rank, P-1 at the root · messages P-1 · encodes 1 (not the root) · decodes P-1 (root)
//   error: the codec's bound; the root's own block is copied
#include "communication/team/algorithm.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int P = team.size(), me = team.rank();
  const ConstSlice own = team.whole(data.in);
  if (me != data.root) {
    const Frames frame = co_await team.encode(own);
    co_await team.send(frame, data.root);
    co_return;
  }
  team.copy(own, team.chunk(data.out, me));
  for (int i = 1; i < P; ++i) {
    const Slice block = team.chunk(data.out, me + i);
    co_await team.decode(co_await team.recv(mod(me + i, P), block), block);
  }
}

Cost cost(int P) {
  return {.steps = P > 1,
          .messages = P - 1,
          .messages_a_rank = P > 1,
          .frames = P - 1,
          .encodes = P > 1,
          .decodes = P - 1};
}

}  // namespace

extern constinit const AlgorithmInfo linear_gather{
    .name = "linear",
    .collective = Collective::gather,
    .paper = "Huang et al. 2024",
    .unit = AlgorithmInfo::Unit::block,
    .cost = cost,
    .growth = coded_once,
    .run = run,
    .any_blocks = true,
    .scratch = [](int, int) { return Scratch{.buffers = 1}; },
};

}  // namespace taut::algorithms

// Reduce as ring reduce-scatter and gather of the finished frames. Thakur, Rabenseifner and Gropp,
// "Optimization of collective communication operations in MPICH", IJHPCA 19 (2005), section 4.6, with the
// ring for its first half: Patarasuk and Yuan 2009.
//   steps P (the last P-1 messages go to the root) · messages of a rank P (of the root P-1)
//   · encodes 1 · combines P-1 · decodes P (root)
//   error of a sum: P times the codec's bound
#include "algorithms/ring.hpp"

namespace taut::algorithms {
namespace {

Task<> run(Team team, Operands data) {
  const int P = team.size(), me = team.rank();
  const Frame total = co_await ring_reduce(team, data.in, data.op);
  if (me != data.root) {
    co_await team.send(total, data.root);
    co_return;
  }
  team.decode(total, team.chunk(data.out, me));
  for (int i = 1; i < P; ++i) {
    const Slice block = team.chunk(data.out, me + i);
    team.decode(co_await team.recv(mod(me + i, P), block, static_cast<std::uint32_t>(P)), block);
  }
}

Cost cost(int P) {
  return {.steps = P > 1 ? P : 0,
          .messages = P * (P - 1) + P - 1,
          .messages_a_rank = P > 1 ? P : 0,
          .frames = P * (P - 1) + P - 1,
          .encodes = 1,
          .combines = P - 1,
          .decodes = P};
}

int growth(int P, Arithmetic) { return P; }

}  // namespace

const AlgorithmInfo& ring_reduce_to_root() {
  static constexpr AlgorithmInfo info{.name = "ring",
                                      .collective = Collective::reduce,
                                      .paper = "Thakur, Rabenseifner and Gropp 2005; Patarasuk and Yuan 2009",
                                      .unit = AlgorithmInfo::Unit::block,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run};
  return info;
}

}  // namespace taut::algorithms

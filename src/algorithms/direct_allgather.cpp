// Allgather by direct exchange: every rank sends its finished frame to every other rank. This is the
// long-message alltoall of Thakur, Rabenseifner and Gropp, "Optimization of collective communication
// operations in MPICH", IJHPCA 19 (2005), with the same block for all ranks; encoded once: Huang et al.,
// "C-Coll", IPDPS 2024.
//   steps P-1, independent of each other · messages of a rank P-1 · encodes 1 · decodes P
//   error: the codec's bound; each value is encoded once, and all ranks decode the same bytes
#include <algorithm>

#include "algorithms/direct.hpp"
#include "core/round.hpp"

namespace taut::algorithms {

Task<> direct_share(Team team, Frame mine, std::uint32_t addends, Blocks<Slice> values) {
  const int P = team.size(), me = team.rank();
  auto chunk = [&](int i) { return team.chunk(values, i); };

  for (int first = 1; first < P; first += Round::most) {
    const int last = std::min(first + Round::most, P);
    Round round(team);
    for (int d = first; d < last; ++d) round.recv(mod(me - d, P), chunk(me - d), addends);
    for (int d = first; d < last; ++d) round.send(mine, mod(me + d, P));
    for (int d = first; d < last; ++d) team.decode(co_await round[d - first], chunk(me - d));
    co_await round;
  }
  team.decode(mine, chunk(me));
}

namespace {

Task<> run(Team team, Operands data) {
  co_await direct_share(team, team.encode(team.whole(data.in)), 1, data.out);
}

Cost cost(int P) {
  return {.steps = P - 1,
          .messages = P * (P - 1),
          .messages_a_rank = P - 1,
          .frames = P * (P - 1),
          .encodes = 1,
          .combines = 0,
          .decodes = P};
}

int growth(int, Arithmetic) { return 1; }

Scratch scratch(int P, int) { return {.frames = 1, .buffers = std::min(P - 1, Round::most) + 1}; }

}  // namespace

const AlgorithmInfo& direct_allgather() {
  static constexpr AlgorithmInfo info{.name = "direct",
                                      .collective = Collective::allgather,
                                      .paper = "Thakur, Rabenseifner and Gropp 2005",
                                      .unit = AlgorithmInfo::Unit::block,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run,
                                      .any_blocks = true,
                                      .scratch = scratch};
  return info;
}

}  // namespace taut::algorithms

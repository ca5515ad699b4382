// Ring allgather of finished frames. Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 19 (2005), section 4.1; frames forwarded unchanged: Huang et
// al., "C-Coll", IPDPS 2024.
//   steps P-1 · messages of a rank P-1 · encodes 1 · decodes P
//   error: the codec's bound; each value is encoded once, and all ranks decode the same bytes
#include "algorithms/ring.hpp"

namespace taut::algorithms {

Task<> ring_share(Team team, Frame mine, std::uint32_t addends, Blocks<Slice> values) {
  const int P = team.size(), me = team.rank();
  const int left = mod(me - 1, P), right = mod(me + 1, P);
  auto chunk = [&](int i) { return team.chunk(values, i); };

  // After step s, the blocks me-s-1 .. me are in place and `frame` is that of block me-s-1.
  Frame frame = std::move(mine);
  team.decode(frame, chunk(me));
  for (int s = 0; s < P - 1; ++s) {
    const Slice next = chunk(me - s - 1);
    frame = co_await team.exchange(frame, right, left, next, addends);
    team.decode(frame, next);
  }
}

namespace {

Task<> run(Team team, Operands data) {
  co_await ring_share(team, team.encode(team.whole(data.in)), 1, data.out);
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

}  // namespace

const AlgorithmInfo& ring_allgather() {
  static constexpr AlgorithmInfo info{.name = "ring",
                                      .collective = Collective::allgather,
                                      .paper = "Thakur, Rabenseifner and Gropp 2005",
                                      .unit = AlgorithmInfo::Unit::block,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run,
                                      .any_blocks = true};
  return info;
}

}  // namespace taut::algorithms

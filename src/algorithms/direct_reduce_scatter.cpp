// Reduce-scatter by direct exchange: rank j receives block j of every rank and reduces them. This is the
// pairwise exchange of Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations
// in MPICH", IJHPCA 19 (2005), with several messages in flight and one sum of the received frames.
//   steps P-1, independent of each other · messages of a rank P-1 · encodes P · combines P-1
//   (up to 7 at once) · decodes 1
//   error of a sum: by frames P times the codec's bound; by values one more for each round of 7 frames
#include <algorithm>
#include <array>

#include "algorithms/direct.hpp"
#include "core/round.hpp"

namespace taut::algorithms {

Task<Frame> direct_reduce(Team team, Blocks<ConstSlice> values, Reduction op) {
  const int P = team.size(), me = team.rank();
  auto chunk = [&](int i) { return team.chunk(values, i); };

  // After a round, `total` holds block me, reduced over the ranks me-last+1 .. me (modulo P).
  Frame total = team.encode(chunk(me));
  for (int first = 1; first < P; first += Round::most) {
    const int last = std::min(first + Round::most, P);
    Round round(team);
    for (int d = first; d < last; ++d) round.recv(mod(me - d, P), chunk(me));
    for (int d = first; d < last; ++d) round.send(team.encode(chunk(me + d)), mod(me + d, P));
    std::array<Frame, Round::most> others;
    for (int i = 0; i < last - first; ++i) others[static_cast<std::size_t>(i)] = co_await round[i];
    total = team.combine(total, std::span(others).first(static_cast<std::size_t>(last - first)), op);
    co_await round;
  }
  co_return total;
}

int direct_growth(int P, Arithmetic how) {
  const int rounds = (P - 1 + Round::most - 1) / Round::most;
  return how == Arithmetic::frames ? P : P + rounds;
}

Scratch direct_scratch(int P, int) { return {.frames = 1, .buffers = 2 * std::min(P - 1, Round::most) + 2}; }

namespace {

Task<> run(Team team, Operands data) {
  const Frame total = co_await direct_reduce(team, data.in, data.op);
  team.decode(total, team.whole(data.out));
}

Cost cost(int P) {
  return {.steps = P - 1,
          .messages = P * (P - 1),
          .messages_a_rank = P - 1,
          .frames = P * (P - 1),
          .encodes = P,
          .combines = P - 1,
          .decodes = 1};
}

}  // namespace

const AlgorithmInfo& direct_reduce_scatter() {
  static constexpr AlgorithmInfo info{.name = "direct",
                                      .collective = Collective::reduce_scatter,
                                      .paper = "Thakur, Rabenseifner and Gropp 2005",
                                      .unit = AlgorithmInfo::Unit::block,
                                      .cost = cost,
                                      .growth = direct_growth,
                                      .run = run,
                                      .any_blocks = true,
                                      .scratch = direct_scratch};
  return info;
}

}  // namespace taut::algorithms

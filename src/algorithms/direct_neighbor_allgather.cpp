// Allgather among the neighbours of a topology: MPI-4.1, section 8.6. Every rank encodes its block once and
// sends the frame to all neighbours; encoded once: Huang et al., "C-Coll", IPDPS 2024.
//   for n neighbours: steps n, independent of each other · messages n · encodes 1 · decodes n
//   error: the codec's bound; a rank that is its own neighbour decodes its frame as the others do
// The declared cost is that of P ranks which have all ranks as neighbours, themselves included.
#include <algorithm>
#include <array>

#include "algorithms/direct_neighbours.hpp"
#include "core/round.hpp"

namespace taut::algorithms {
namespace {

// Sends the frame to the neighbours from neighbour `first` on.
Task<> send_frame(Team team, const Operands& data, const Frame& mine, std::size_t first) {
  const std::vector<int>& to = data.neighbours->to;
  const std::size_t last = std::min(first + Round::most, to.size());
  Round round(team);
  for (std::size_t i = first; i < last; ++i)
    if (to[i] != team.rank()) round.send(mine, to[i]);
  if (last < to.size()) co_await send_frame(team, data, mine, last);
  co_await round;
}

Task<> run(Team team, Operands data) {
  const auto& [from, to] = *data.neighbours;
  const Frame mine = to.empty() ? Frame{} : team.encode(team.whole(data.in));
  std::array<Task<>, 2> both{send_frame(team, data, mine, 0), receive_from_neighbours(team, data)};
  co_await all(both);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] == team.rank()) team.decode(mine, block_of_neighbour(team, data.out, i, from.size()));
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

Scratch scratch(int n, int) { return {.frames = 1, .buffers = std::min(n, Round::most) + 1}; }

}  // namespace

const AlgorithmInfo& direct_neighbor_allgather() {
  static constexpr AlgorithmInfo info{.name = "direct",
                                      .collective = Collective::neighbor_allgather,
                                      .paper = "MPI-4.1, section 8.6",
                                      .unit = AlgorithmInfo::Unit::block,
                                      .cost = cost,
                                      .growth = growth,
                                      .run = run,
                                      .any_blocks = true,
                                      .scratch = scratch};
  return info;
}

}  // namespace taut::algorithms

// Exchange with the neighbours of a topology: MPI-4.1, section 8.6. All frames of a rank are in flight at a
// time, and up to 7 receives. No order of the neighbours can therefore make ranks wait in a circle. Blocks
// of a rank that occurs several times among the neighbours are matched in their order.
//   for n neighbours: steps n, independent of each other · messages n · encodes n · decodes n
//   error: the codec's bound; a rank's block for itself is copied
// The declared cost is that of P ranks which have all ranks as neighbours, themselves included.
#include <algorithm>
#include <array>
#include <cstring>

#include "algorithms/direct_neighbours.hpp"
#include "core/round.hpp"

namespace taut::algorithms {

Task<> receive_from_neighbours(Team team, const Operands& data) {
  const std::vector<int>& from = data.neighbours->from;
  const std::size_t n = from.size();
  auto chunk = [&](std::size_t i) { return block_of_neighbour(team, data.out, i, n); };
  for (std::size_t first = 0; first < n; first += Round::most) {
    const std::size_t last = std::min(first + Round::most, n);
    Round round(team);
    for (std::size_t i = first; i < last; ++i)
      if (from[i] != team.rank()) round.recv(from[i], chunk(i));
    int received = 0;
    for (std::size_t i = first; i < last; ++i)
      if (from[i] != team.rank()) team.decode(co_await round[received++], chunk(i));
  }
}

namespace {

// Sends the blocks from block `first` on.
Task<> send_blocks(Team team, const Operands& data, std::size_t first) {
  const std::vector<int>& to = data.neighbours->to;
  const std::size_t n = to.size(), last = std::min(first + Round::most, n);
  Round round(team);
  for (std::size_t i = first; i < last; ++i)
    if (to[i] != team.rank()) round.send(team.encode(block_of_neighbour(team, data.in, i, n)), to[i]);
  if (last < n) co_await send_blocks(team, data, last);
  co_await round;
}

void copy_own_blocks(const Team& team, const Operands& data) {
  const auto& [from, to] = *data.neighbours;
  for (std::size_t i = 0, k = 0; i < to.size(); ++i) {
    if (to[i] != team.rank()) continue;
    while (k < from.size() && from[k] != team.rank()) ++k;
    if (k == from.size()) return;
    const ConstSlice mine = block_of_neighbour(team, data.in, i, to.size());
    const Slice here = block_of_neighbour(team, data.out, k++, from.size());
    if (here.count != 0) std::memcpy(here.data, mine.data, std::min(here.bytes(), mine.bytes()));
  }
}

Task<> run(Team team, Operands data) {
  copy_own_blocks(team, data);
  std::array<Task<>, 2> both{send_blocks(team, data, 0), receive_from_neighbours(team, data)};
  co_await all(both);
}

Cost cost(int P) {
  return {.steps = P - 1,
          .messages = P * (P - 1),
          .messages_a_rank = P - 1,
          .frames = P * (P - 1),
          .encodes = P - 1,
          .combines = 0,
          .decodes = P - 1};
}

int growth(int, Arithmetic) { return 1; }

Scratch scratch(int n, int) { return {.frames = 1, .buffers = n + std::min(n, Round::most)}; }

}  // namespace

const AlgorithmInfo& direct_neighbor_alltoall() {
  static constexpr AlgorithmInfo info{.name = "direct",
                                      .collective = Collective::neighbor_alltoall,
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

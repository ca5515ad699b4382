// Allgather and alltoall among the neighbours of a topology, by direct exchange: MPI-4.1, section 8.6. An
// allgather encodes its block once and sends the frame to all neighbours: Huang et al., "C-Coll", IPDPS 2024.
// All frames that a rank sends are in flight at a time, and up to 7 receives. No order of the neighbours can
// therefore make ranks wait in a circle. Blocks of a rank that occurs several times among the neighbours are
// matched in their order.
//
//   for n neighbours        steps             messages   encodes   decodes
//   neighbor_allgather      n, independent    n          1         n
//   neighbor_alltoall       n, independent    n          n         n
//
//   error: the codec's bound. A rank that is its own neighbour decodes its frame as the others do in an
//   allgather; in an alltoall its block is copied.
//
// The declared cost is that of P ranks which have all ranks as neighbours, themselves included.
#include <algorithm>
#include <array>

#include "communication/algorithms/costs.hpp"
#include "communication/team/message_batch.hpp"

namespace taut::algorithms {
namespace {

// Returns the block of neighbour i of n, this segment's part.
template <class S>
S block_of_neighbour(const Team& team, const Blocks<S>& values, std::size_t i, std::size_t n) noexcept {
  return team.in_blocks(static_cast<int>(n)).chunk(values, static_cast<int>(i));
}

// Receives one block from each other rank among the neighbours.
Task<> receive_blocks(Team team, const Operands& data) {
  const std::vector<int>& from = data.neighbours->from;
  const std::size_t n = from.size();
  auto chunk = [&](std::size_t i) { return block_of_neighbour(team, data.out, i, n); };
  for (std::size_t first = 0; first < n; first += MessageBatch::most) {
    const std::size_t last = std::min(first + MessageBatch::most, n);
    MessageBatch messages(team);
    DecodeBatch batch(team);
    for (std::size_t i = first; i < last; ++i)
      if (data.encodes(from[i], team.rank())) messages.recv(from[i], chunk(i));
    int received = 0;
    for (std::size_t i = first; i < last; ++i)
      if (data.encodes(from[i], team.rank())) co_await batch.add(co_await messages[received++], chunk(i));
    co_await batch.rest();
  }
}

// Sends the frame to the neighbours from neighbour `first` on.
Task<> send_frame(Team team, const Operands& data, const Frames& mine, std::size_t first) {
  const std::vector<int>& to = data.neighbours->to;
  const std::size_t last = std::min(first + MessageBatch::most, to.size());
  MessageBatch messages(team);
  for (std::size_t i = first; i < last; ++i)
    if (to[i] != team.rank()) messages.send(mine, to[i]);
  if (last < to.size()) co_await send_frame(team, data, mine, last);
  co_await messages;
}

Task<> allgather(Team team, Operands data) {
  const auto& [from, to] = *data.neighbours;
  Frames mine;
  if (!to.empty()) mine = co_await team.encode(team.whole(data.in));
  std::array<Task<>, 2> both{send_frame(team, data, mine, 0), receive_blocks(team, data)};
  co_await all(both);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] == team.rank())
      co_await team.decode(mine, block_of_neighbour(team, data.out, i, from.size()));
}

// Sends the blocks from block `first` on.
Task<> send_blocks(Team team, const Operands& data, std::size_t first) {
  const std::vector<int>& to = data.neighbours->to;
  const std::size_t n = to.size(), last = std::min(first + MessageBatch::most, n);
  MessageBatch messages(team);
  for (std::size_t i = first; i < last; ++i)
    if (data.encodes(team.rank(), to[i]))
      messages.send(co_await team.encode(block_of_neighbour(team, data.in, i, n)), to[i]);
  if (last < n) co_await send_blocks(team, data, last);
  co_await messages;
}

void copy_own_blocks(Team& team, const Operands& data) {
  const auto& [from, to] = *data.neighbours;
  for (std::size_t i = 0, k = 0; i < to.size(); ++i) {
    if (to[i] != team.rank()) continue;
    while (k < from.size() && from[k] != team.rank()) ++k;
    if (k == from.size()) return;
    const ConstSlice mine = block_of_neighbour(team, data.in, i, to.size());
    const Slice here = block_of_neighbour(team, data.out, k++, from.size());
    team.copy(mine, {here.part(0, std::min(here.count, mine.count))});
  }
}

Task<> alltoall(Team team, Operands data) {
  copy_own_blocks(team, data);
  std::array<Task<>, 2> both{send_blocks(team, data, 0), receive_blocks(team, data)};
  co_await all(both);
}

Scratch scratch_of_allgather(int n, int) {
  return {.frames = 1, .buffers = std::min(n, MessageBatch::most) + 1};
}
Scratch scratch_of_alltoall(int n, int) {
  return {.frames = 1, .buffers = n + std::min(n, MessageBatch::most)};
}

}  // namespace

extern constinit const AlgorithmInfo direct_neighbor_allgather{
    .name = "direct",
    .collective = Collective::neighbor_allgather,
    .paper = "MPI-4.1, section 8.6",
    .unit = AlgorithmInfo::Unit::block,
    .cost = [](int P) { return cost_of_exchanges(P, P - 1, 1, 0, P); },
    .growth = coded_once,
    .run = allgather,
    .any_blocks = true,
    .scratch = scratch_of_allgather,
};

extern constinit const AlgorithmInfo direct_neighbor_alltoall{
    .name = "direct",
    .collective = Collective::neighbor_alltoall,
    .paper = "MPI-4.1, section 8.6",
    .unit = AlgorithmInfo::Unit::block,
    .cost = [](int P) { return cost_of_exchanges(P, P - 1, P - 1, 0, P - 1); },
    .growth = coded_once,
    .run = alltoall,
    .any_blocks = true,
    .scratch = scratch_of_alltoall,
};

}  // namespace taut::algorithms

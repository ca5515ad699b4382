#include "communication/team/algorithm.hpp"

#include <array>

#include "communication/team/hierarchical.hpp"

namespace taut {

namespace {

Slice block_of(const Operands& data, int rank, int ranks) noexcept {
  return data.out.at(static_cast<std::size_t>(rank), static_cast<std::size_t>(ranks));
}

}  // namespace

bool Operands::encodes(int from, int to) const noexcept {
  return from != to && (between == nullptr || between->node(from) != between->node(to));
}

bool has_input_in_result(Collective collective, const Operands& data, int rank, int ranks) noexcept {
  if (collective == Collective::bcast) return rank == data.root && data.out.data == data.in.data;
  return collective == Collective::allgather && block_of(data, rank, ranks).data == data.in.data;
}

void leave_input(Collective collective, Operands& data, int rank, int ranks) noexcept {
  if (!has_input_in_result(collective, data, rank, ranks)) return;
  if (collective == Collective::bcast)
    data.out.data = nullptr;
  else
    data.own.emplace(nullptr);
}

Task<> pipelined(const AlgorithmInfo& algorithm, Team team, Operands data, int segments, const Nodes* nodes) {
  std::array<Task<>, max_segments> tasks;
  for (int k = 0; k < segments; ++k) {
    const Team part = team.segment(k, segments);
    tasks[static_cast<std::size_t>(k)] =
        nodes == nullptr ? algorithm.run(part, data) : by_nodes(algorithm, *nodes, part, data);
  }
  co_await all(std::span(tasks).first(static_cast<std::size_t>(segments)));
}

}  // namespace taut

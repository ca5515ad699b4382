#include "core/algorithm.hpp"

#include <array>

#include "core/hierarchical.hpp"

namespace taut {

void leave_input(Collective collective, Operands& data, int rank, int ranks) noexcept {
  if (collective == Collective::bcast && rank == data.root && data.out.data == data.in.data)
    data.out.data = nullptr;
  if (collective != Collective::allgather) return;
  Slice own = data.out.at(static_cast<std::size_t>(rank), static_cast<std::size_t>(ranks));
  if (own.data != data.in.data) return;
  own.data = nullptr;
  data.own = own;
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

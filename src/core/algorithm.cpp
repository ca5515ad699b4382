#include "core/algorithm.hpp"

#include <array>

#include "core/hierarchical.hpp"

namespace taut {

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

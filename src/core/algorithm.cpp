#include "core/algorithm.hpp"

#include <array>

namespace taut {

Task<> pipelined(const AlgorithmInfo& algorithm, Team team, Operands data, int segments) {
  std::array<Task<>, max_segments> tasks;
  for (int k = 0; k < segments; ++k)
    tasks[static_cast<std::size_t>(k)] = algorithm.run(team.segment(k, segments), data);
  co_await all(std::span(tasks).first(static_cast<std::size_t>(segments)));
}

}  // namespace taut

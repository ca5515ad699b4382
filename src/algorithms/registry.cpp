// Registry of algorithms: one line of algorithm_table.inc for each file of this folder, written by CMake.
#include <cstring>

#include "core/algorithm.hpp"

namespace taut {

#define TAUT_ALGORITHM(stem)   \
  namespace algorithms {       \
  const AlgorithmInfo& stem(); \
  }
#include "algorithm_table.inc"
#undef TAUT_ALGORITHM

std::span<const AlgorithmInfo* const> registered_algorithms() noexcept {
#define TAUT_ALGORITHM(stem) &algorithms::stem(),
  static const AlgorithmInfo* const table[] = {
#include "algorithm_table.inc"
  };
#undef TAUT_ALGORITHM
  return table;
}

const AlgorithmInfo* find_algorithm(Collective collective, const char* name) noexcept {
  for (const AlgorithmInfo* info : registered_algorithms())
    if (info->collective == collective && std::strcmp(info->name, name) == 0) return info;
  return nullptr;
}

}  // namespace taut

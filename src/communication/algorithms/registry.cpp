// Registry of algorithms: CMake writes algorithm_table.inc, a line for each descriptor in this folder.
#include <cstring>

#include "communication/team/algorithm.hpp"

namespace taut {

#define TAUT_ALGORITHM(name)       \
  namespace algorithms {           \
  extern const AlgorithmInfo name; \
  }
#include "algorithm_table.inc"
#undef TAUT_ALGORITHM

std::span<const AlgorithmInfo* const> registered_algorithms() noexcept {
#define TAUT_ALGORITHM(name) &algorithms::name,
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

// Route: an alternative for serving a kind of call, compared with others by trials.
#pragma once

#include "core/algorithm.hpp"

namespace taut {

struct Route {
  const AlgorithmInfo* algorithm = nullptr;  // null: the plan chooses
  bool by_nodes = false;                     // core/hierarchical.hpp

  friend bool operator==(const Route&, const Route&) = default;
};

}  // namespace taut

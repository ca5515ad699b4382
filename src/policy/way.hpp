// A way to serve a kind of call, of those that trials compare.
#pragma once

#include "core/algorithm.hpp"

namespace taut {

struct Way {
  const AlgorithmInfo* algorithm = nullptr;  // null: none in particular
  bool by_nodes = false;                     // core/by_nodes.hpp

  friend bool operator==(const Way&, const Way&) = default;
};

}  // namespace taut

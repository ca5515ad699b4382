// A way to serve a kind of call, of those that trials compare.
#pragma once

#include "core/algorithm.hpp"

namespace taut {

struct Route {
  const AlgorithmInfo* algorithm = nullptr;  // null: none in particular
  bool by_nodes = false;                     // core/hierarchical.hpp

  friend bool operator==(const Route&, const Route&) = default;
};

}  // namespace taut

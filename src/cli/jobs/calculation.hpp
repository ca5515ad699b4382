// taut advise --calc: forecast of one call at speeds that are measured here.
#pragma once

#include "cli/arguments.hpp"
#include "communication/policy/plan/cost_model.hpp"
#include "communication/policy/plan/policy.hpp"

namespace taut::cli {

struct CalculatedNodes {
  int nodes, ranks_a_node;
  double link;  // bytes a second, of a node
  NodeMemory memory;
};

// Measures the codecs of a policy on the values that the arguments name, and prints forecasts of a call on
// these nodes, for several numbers of threads. Throws Failure.
Exit calculate(const Arguments& arguments, const Policy& policy, const CalculatedNodes& on);

}  // namespace taut::cli

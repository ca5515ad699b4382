// taut advise --calc: forecast of one call at speeds that are measured here.
#pragma once

#include "cli/arguments.hpp"
#include "cli/failure.hpp"
#include "policy/plan/policy.hpp"

namespace taut::cli {

// Measures the codecs of a policy on the values that the arguments name, and prints forecasts of a call on
// `ranks` nodes, for several numbers of threads. `link`: bytes a second. Throws Failure.
Exit calculate(const Arguments& arguments, const Policy& policy, double link, int ranks);

}  // namespace taut::cli

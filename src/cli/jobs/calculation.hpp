// taut advise --calc: forecast of one call at speeds that are measured here.
#pragma once

#include "cli/arguments.hpp"
#include "communication/policy/plan/policy.hpp"
#include "compressor/file/failure.hpp"

namespace taut::cli {

// Measures the codecs of a policy on the values that the arguments name, and prints forecasts of a call on
// `ranks` nodes, for several numbers of threads. `link`: bytes a second. Throws Failure.
Exit calculate(const Arguments& arguments, const Policy& policy, double link, int ranks);

}  // namespace taut::cli

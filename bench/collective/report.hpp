// Output of the results: lines of JSON, which bench/collective/latency.py reads.
#pragma once

#include "measure.hpp"

namespace bench {

void print_settings(const Options& options, int ranks);  // the first line
void print_row(const Result& result);

}  // namespace bench

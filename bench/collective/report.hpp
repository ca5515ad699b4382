// Output of the results: for people, lines as the OSU benchmarks print them; for programs, JSON.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace bench {

void print_heading(const Options& options, int ranks);
void print_operation(const Collective& collective);
void print_results(const std::vector<Result>& results);  // one collective and size; plain MPI first
void write_json(const Options& options, int ranks, const std::vector<Result>& results);

}  // namespace bench

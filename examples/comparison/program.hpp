// Main function of the examples that compare plain MPI and Taut.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

#include "fair_baseline.hpp"

namespace comparison {

// Parses the command line on every rank and calls compare(options, rank in MPI_COMM_WORLD). Returns the exit
// status: that of compare(); 0 after --help; 2 for a wrong command line. Both functions may throw
// std::invalid_argument, on all ranks alike.
template <class Parse, class Compare>
int compare_on_rank(const char* name, const char* usage, Parse parse, Compare compare) {
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  try {
    const auto options = parse();
    if (!options.help) return compare(options, me);
    if (me == 0) std::fputs(usage, stdout);
    return 0;
  } catch (const std::invalid_argument& error) {
    if (me == 0) std::fprintf(stderr, "%s: %s\n%s", name, error.what(), usage);
    return 2;
  }
}

// compare_on_rank() between MPI_Init and MPI_Finalize. Any other exception ends the job.
template <class Parse, class Compare>
int run_program(const char* name, const char* usage, int argc, char** argv, Parse parse, Compare compare) {
  bench::let_waiting_ranks_yield();
  MPI_Init(&argc, &argv);
  int status = 2;
  try {
    status = compare_on_rank(
        name, usage, [&] { return parse(argc, argv); }, compare);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return status;
}

}  // namespace comparison

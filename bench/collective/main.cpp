// taut_bench_collectives: measures the latency of collectives, plain MPI and Taut in alternation in one job.
// Exit status: 0; 1 if a bound is violated or ranks differ; 2 for a wrong command line.

#include <mpi.h>

#include <cstdio>
#include <exception>

#include "fair_baseline.hpp"
#include "measure.hpp"
#include "report.hpp"

namespace bench {
namespace {

// Makes the values. Noise is in units of the bound of one rank's values, so that the ratio does not depend on
// the number of ranks.
Data make_data(const Options& options, bool reduces, int ranks) {
  if (options.data == "random") return Data::random();
  if (options.data != "smooth") return Data::file(options.data, options.doubles);
  return Data::smooth(options.roughness * options.bound / (reduces ? ranks : 1));
}

bool run(const Options& options, int rank, int ranks) {
  std::vector<const Collective*> chosen;
  for (const std::string& name : options.operations) chosen.push_back(&find_collective(name));
  if (chosen.empty())
    for (const Collective& one : collectives()) chosen.push_back(&one);

  bool good = true;
  if (rank == 0) print_settings(options, ranks);
  for (const Collective* collective : chosen) {
    const Data data = make_data(options, collective->reduces, ranks);
    for (std::size_t bytes = options.smallest; bytes <= options.largest; bytes *= 2) {
      for (const Result& result : measure(*collective, bytes, options, data)) {
        if (rank == 0) print_row(result);
        good = good && result.within_bound && result.identical;
      }
    }
  }
  return good;
}

int main_of_rank(int argc, char** argv) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::vector<std::string> words{argv + 1, argv + argc};
  if (asks_for_help(words)) {
    if (rank == 0) std::fputs(usage().c_str(), stdout);
    return 0;
  }
  Options options;
  try {
    options = parse(words);
  } catch (const std::exception& error) {
    if (rank == 0) std::fprintf(stderr, "taut_bench_collectives: %s\n%s", error.what(), usage().c_str());
    return 2;
  }
  try {
    return run(options, rank, ranks) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "taut_bench_collectives: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return 2;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::let_waiting_ranks_yield();
  MPI_Init(&argc, &argv);
  const int status = bench::main_of_rank(argc, argv);
  MPI_Finalize();
  return status;
}

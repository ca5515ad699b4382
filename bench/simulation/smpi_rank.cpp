// smpi_rank: one rank of a scenario of taut_simulate under SimGrid's SMPI, over the MPI transport of the
// library. SimGrid simulates the network, so that the time is independent of the simulator's own network.
// smpi.py builds and runs it.
#include <mpi.h>
#include <smpi/smpi.h>

#include <cstdio>
#include <exception>

#include "communication/transports/mpi.hpp"
#include "scenario.hpp"

namespace {

// Returns the seconds of the call on the slowest rank.
double seconds_of(const simulation::CollectiveCall& call, const simulation::Link& link) {
  const auto transport = taut::make_mpi_transport(MPI_COMM_WORLD);
  simulation::CoreCache cache;
  const simulation::Processor processor{[](double seconds, double) { smpi_execute(seconds); }, [] {}, cache};
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  run_on_rank(call, plans(call, link).front(), link.hosts, *transport, processor);
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const simulation::Scenario scenario = simulation::parse_scenario({argv + 1, argv + argc});
    const double seconds = seconds_of(scenario.call, scenario.link);
    if (rank == 0) std::printf("{\"seconds\": %.9g}\n", seconds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "smpi_rank: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}

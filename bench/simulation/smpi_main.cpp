// taut_smpi: runs one scenario of taut_simulate under SimGrid's SMPI, over Taut's MPI transport. It checks
// the network of taut_simulate against an independent one. With plain=1 MPI's own collective is timed. Built
// and run by smpi.sh.
#include <mpi.h>
#include <smpi/smpi.h>

#include <cstdio>
#include <exception>

#include "communication/transports/mpi.hpp"
#include "scenario.hpp"

namespace {

// plain() and compressed() return the time at which the call began.
double plain(const simulation::CollectiveCall& call) {
  using enum taut::Collective;
  const int count = static_cast<int>(call.bytes / sizeof(float)), block = count / call.ranks;
  void* const in = SMPI_SHARED_MALLOC(call.bytes);
  void* const out = SMPI_SHARED_MALLOC(call.bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  switch (call.collective) {
    case allreduce: MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
    case bcast: MPI_Bcast(out, count, MPI_FLOAT, 0, MPI_COMM_WORLD); break;
    case allgather: MPI_Allgather(in, block, MPI_FLOAT, out, block, MPI_FLOAT, MPI_COMM_WORLD); break;
    case scatter: MPI_Scatter(in, block, MPI_FLOAT, out, block, MPI_FLOAT, 0, MPI_COMM_WORLD); break;
    case reduce_scatter: MPI_Reduce_scatter_block(in, out, block, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
    default: throw taut::Error(taut::Status::invalid_argument, "no plain call for this collective");
  }
  return start;
}

double compressed(const simulation::CollectiveCall& call, const simulation::Link& link) {
  const auto transport = taut::make_mpi_transport(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  const simulation::Processor processor{[](double seconds) { smpi_execute(seconds); }, [] {}};
  run_on_rank(call, plans(call, link.bytes_a_second).front(), *transport, processor);
  return start;
}

int run(int argc, char** argv) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const simulation::Scenario scenario = simulation::parse_scenario({argv + 1, argv + argc});
  const double start = scenario.plain ? plain(scenario.call) : compressed(scenario.call, scenario.link);
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) std::printf("{\"seconds\": %.9g}\n", seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 2;
  try {
    status = run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "taut_smpi: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return status;
}

// Elastic waves in three dimensions, with halos that go by plain MPI and by Taut. wave3d --help tells more.
// Exit status: 0; 1 if a variant breaks a promise; 2 for a wrong command line.

#include <cstdio>
#include <exception>
#include <stdexcept>

#include "fair_baseline.hpp"
#include "report.hpp"

namespace {

int main_of_rank(int argc, char** argv) {
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  wave3d::Options options;
  wave3d::Run run;
  try {
    options = wave3d::parse(argc, argv);
    if (options.help) {
      if (me == 0) std::fputs(wave3d::usage(), stdout);
      return 0;
    }
    run = wave3d::run(options, MPI_COMM_WORLD);
  } catch (const std::invalid_argument& error) {  // on all ranks alike
    if (me == 0) std::fprintf(stderr, "wave3d: %s\n%s", error.what(), wave3d::usage());
    return 2;
  }
  if (me != 0) return 0;
  wave3d::print_table(run, options);
  wave3d::write_files(run, options);
  return wave3d::keeps_promises(run) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  bench::let_waiting_ranks_yield();
  MPI_Init(&argc, &argv);
  int status = 2;
  try {
    status = main_of_rank(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wave3d: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return status;
}

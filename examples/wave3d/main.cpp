// Elastic waves in three dimensions, with halos that go by plain MPI and by Taut. wave3d --help tells more.
// Exit status: 0; 1 if a variant breaks a promise; 2 for a wrong command line.

#include "../comparison/program.hpp"
#include "report.hpp"

namespace {

int compare(const wave3d::Options& options, int me) {
  const wave3d::Run run = wave3d::run(options, MPI_COMM_WORLD);
  if (me != 0) return 0;
  wave3d::print_table(run, options);
  wave3d::write_files(run, options);
  return wave3d::keeps_promises(run) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return comparison::run_program("wave3d", wave3d::usage(), argc, argv, wave3d::parse, compare);
}

#include "communication/policy/text/lone_ranks.hpp"

#include <charconv>
#include <string_view>

namespace taut {
namespace {

// Variables by which a launcher tells its processes how many they are and which one each is.
struct LauncherVariables {
  const char *launcher, *size, *rank, *remedy;
  bool starts_daemons = false;  // of mpiexec, which sets its own variables for the processes of its daemons
};
constexpr const char use_own_mpiexec[] =
    ", the program was built with another MPI; start it with the mpiexec of that MPI (taut doctor PROGRAM "
    "names it)";
constexpr LauncherVariables known[] = {
    {"Open MPI's", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", use_own_mpiexec},
    {"MPICH's or Intel MPI's", "PMI_SIZE", "PMI_RANK", use_own_mpiexec},
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID",
     " without the PMI that the program's MPI knows; add --mpi=pmi2 (MPICH, Intel MPI) or --mpi=pmix (Open "
     "MPI)",
     true}};

// Returns the number that a variable has; -1 if there is none.
int number_of(std::span<const char* const> environment, std::string_view name) noexcept {
  for (const std::string_view entry : environment) {
    if (!entry.starts_with(name) || !entry.substr(name.size()).starts_with('=')) continue;
    const std::string_view value = entry.substr(name.size() + 1);
    int number = -1;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    return read.ec == std::errc() && read.ptr == value.data() + value.size() ? number : -1;
  }
  return -1;
}

}  // namespace

std::string lone_ranks(std::span<const char* const> environment, int ranks_of_world) {
  if (ranks_of_world != 1) return "";
  bool by_mpiexec = false;
  for (const LauncherVariables& one : known) {
    const int started = number_of(environment, one.size);
    if (started < 1 || (one.starts_daemons && by_mpiexec)) continue;
    by_mpiexec = true;
    if (started == 1 || number_of(environment, one.rank) != 0) continue;
    const std::string count = std::to_string(started);
    return "these are " + count + " programs of 1 rank, not a program of " + count + ": the launcher is " +
           one.launcher + one.remedy;
  }
  return "";
}

}  // namespace taut

#include "communication/policy/text/lone_ranks.hpp"

#include <charconv>
#include <string_view>

namespace taut {
namespace {

// Variables by which a launcher tells its processes how many they are and which one each is.
struct LauncherVariables {
  const char *launcher, *size, *rank, *remedy;
};
constexpr const char own_mpiexec[] =
    ", the program was built with another MPI; start it with the mpiexec of that MPI (taut doctor PROGRAM "
    "names it)";
// The first whose size is set decides: mpiexec sets its own for programs whose daemons it starts by srun.
constexpr LauncherVariables known[] = {
    {"Open MPI's", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", own_mpiexec},
    {"MPICH's or Intel MPI's", "PMI_SIZE", "PMI_RANK", own_mpiexec},
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID",
     " without the PMI that the program's MPI knows; add --mpi=pmi2 (MPICH, Intel MPI) or --mpi=pmix (Open "
     "MPI)"}};

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
  for (const LauncherVariables& one : known) {
    const int started = number_of(environment, one.size);
    if (started < 1) continue;
    if (started == 1 || number_of(environment, one.rank) != 0) return "";
    const std::string count = std::to_string(started);
    return "these are " + count + " programs of 1 rank, not a program of " + count + ": the launcher is " +
           one.launcher + one.remedy;
  }
  return "";
}

}  // namespace taut

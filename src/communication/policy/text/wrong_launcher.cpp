#include "communication/policy/text/wrong_launcher.hpp"

#include <charconv>
#include <string_view>

namespace taut {
namespace {

// Names of the variables in which a launcher tells a process the number of ranks and its rank.
struct Launcher {
  const char *name, *size_variable, *rank_variable, *remedy;
  bool may_start_mpiexec = false;  // if the processes have variables of mpiexec too, these count
};
constexpr const char use_own_mpiexec[] =
    ", the program was built with another MPI; start it with the mpiexec of that MPI (taut doctor PROGRAM "
    "names it)";
constexpr Launcher launchers[] = {
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

std::string wrong_launcher_text(std::span<const char* const> environment, int ranks_of_world) {
  if (ranks_of_world != 1) return "";
  bool has_mpiexec = false;
  for (const Launcher& launcher : launchers) {
    const int started = number_of(environment, launcher.size_variable);
    if (started < 1 || (launcher.may_start_mpiexec && has_mpiexec)) continue;
    has_mpiexec = true;
    if (started == 1 || number_of(environment, launcher.rank_variable) != 0) continue;
    const std::string count = std::to_string(started);
    return "these are " + count + " programs of 1 rank, not a program of " + count + ": the launcher is " +
           launcher.name + launcher.remedy;
  }
  return "";
}

}  // namespace taut

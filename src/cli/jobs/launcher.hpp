// Launchers of MPI programs, and the way in which each passes variables to the ranks. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taut::cli {

enum class Launcher { none, hydra, openmpi, srun, jsrun };

const char* name_of(Launcher launcher) noexcept;

// Returns the launcher of that program name. Returns `none` for mpiexec and mpirun as well, which many MPIs
// have; their --version tells the launcher.
Launcher launcher_of(std::string_view program) noexcept;
bool is_mpiexec(std::string_view program) noexcept;
Launcher launcher_of_version(std::string_view version) noexcept;

using Variables = std::vector<std::pair<std::string, std::string>>;

// Command to execute, in the environment of this process plus `set`.
struct Start {
  std::vector<std::string> command;
  Variables set;
};

// Returns the start of `command` such that its ranks get `variables` and preload `library`; the launcher
// itself does not preload the library if that can be avoided. `inherited` is the present value of LD_PRELOAD.
// Throws Failure if the command line rules this out.
Start started(Launcher launcher, std::vector<std::string> command, const Variables& variables,
              const std::string& library, const std::string& inherited);

// Returns a shell line that does the same.
std::string shell_line(const Start& start);

}  // namespace taut::cli

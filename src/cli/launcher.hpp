// Launchers of MPI programs, and how each hands variables on to the ranks. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taut::cli {

enum class Launcher { none, hydra, openmpi, srun, jsrun };

const char* name_of(Launcher launcher) noexcept;

// By the name of the program; `none` for mpiexec and mpirun as well, which many MPIs have: these say in their
// --version what they are.
Launcher launcher_of(std::string_view program) noexcept;
bool is_mpiexec(std::string_view program) noexcept;
Launcher launcher_of_version(std::string_view version) noexcept;

using Variables = std::vector<std::pair<std::string, std::string>>;

// What to execute, in the environment of this process and `set` on top.
struct Start {
  std::vector<std::string> command;
  Variables set;
};

// `command` so that its ranks get `variables` and preload `library`, and the launcher does not preload it
// where that can be avoided. `inherited`: what LD_PRELOAD says already. Throws Failure where the command line
// rules it out.
Start started(Launcher launcher, std::vector<std::string> command, const Variables& variables,
              const std::string& library, const std::string& inherited);

// A line for a shell that does the same.
std::string shell_line(const Start& start);

}  // namespace taut::cli

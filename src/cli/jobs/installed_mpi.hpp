// MPIs installed on this machine: their launchers, and the library of one of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/jobs/launcher.hpp"

namespace taut::cli {

struct Mpi {
  std::string file, version, flavour;
};

// Returns the kind of a launcher: by its name, or by what it prints for --version. `none`: unknown, or it
// cannot be executed.
Launcher kind_of_launcher(const std::string& file);

// Finds the MPI library: the one installed with the launcher, else the one that the dynamic loader finds.
std::optional<Mpi> find_mpi(const std::optional<std::string>& launcher, bool openmpi);

// Finds the library of the standard ABI that is installed with the launcher.
std::optional<Mpi> find_standard_abi(const std::string& launcher);

// Library of MPI that a program is linked to, and its kind: mpich, openmpi or mpiabi.
struct LinkedMpi {
  std::string library, flavour;
};

// Returns the MPI of a program, which is not run. Nothing is known of scripts, of static programs, and of
// programs that load MPI later.
std::optional<LinkedMpi> mpi_of_program(const std::string& file);

// Returns a sentence if a launcher of one kind of MPI starts a program of another kind; "" otherwise.
std::string launcher_mismatch(const std::string& launcher, Launcher kind, const std::string& program);

struct InstalledLauncher {
  std::string file;
  Launcher kind = Launcher::none;
};

// Returns the first launcher of each kind of MPI, Hydra's and Open MPI's, in PATH and in the usual folders.
// Asks launchers whose names are ambiguous for their version.
std::vector<InstalledLauncher> installed_launchers();

// Returns the kind of layer that serves the programs of a launcher; "" if the launcher does not tell.
const char* flavour_of(Launcher launcher) noexcept;

}  // namespace taut::cli

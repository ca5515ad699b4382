// Table of the commands of the program `taut`, from which help, completion and the manual page are made.
#pragma once

#include "cli/command.hpp"

namespace taut::cli {

// A command of the Python package, which this program names but does not have.
struct PythonCommand {
  const char* name;
  const char* summary;
  const char* extra;  // of the package, for what the command needs
};

std::span<const Command* const> all_commands() noexcept;
std::span<const PythonCommand> python_commands() noexcept;

inline constexpr const char* program_summary =
    "compression inside MPI communication, and of arrays of numbers, under an error bound";

}  // namespace taut::cli

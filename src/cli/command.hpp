// Description of a command, and the table of the commands of the program `taut` (commands.cpp).
#pragma once

#include "cli/arguments.hpp"

namespace taut::cli {

struct Command {
  const char* name;
  const char* summary;   // one line of text
  const char* synopsis;  // arguments after the name
  const char* details;   // help text below the options
  std::span<const Option> options;
  Exit (*run)(const Arguments&);  // throws Failure, Error or std::bad_alloc
  bool takes_command = false;     // the names are a command, behind "--"
};

// Each command is defined in the file of its name.
extern const Command compress_command;
extern const Command decompress_command;
extern const Command info_command;
extern const Command bench_codec_command;
extern const Command config_command;
extern const Command advise_command;
extern const Command run_command;
extern const Command doctor_command;
extern const Command completion_command;
extern const Command manual_command;

// Table of all commands, from which help, completion and the manual page are made.
std::span<const Command* const> all_commands() noexcept;

// A command written in Python, of the Python package.
struct PythonCommand {
  const char* name;
  const char* summary;
  const char* extra;      // of the package, for what the command needs; "": none
  bool is_alone = false;  // needs python3 alone: installed with the program too
};

std::span<const PythonCommand> python_commands() noexcept;

inline constexpr const char* program_summary =
    "compression inside MPI communication, and of arrays of numbers, under an error bound";

}  // namespace taut::cli

// Description of a command, as listed in the table of commands.cpp.
#pragma once

#include "cli/arguments.hpp"
#include "compressor/file/failure.hpp"

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

}  // namespace taut::cli

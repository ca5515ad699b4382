// Description of a command, as listed in the table of main.cpp.
#pragma once

#include "cli/arguments.hpp"
#include "cli/failure.hpp"

namespace taut::cli {

struct Command {
  const char* name;
  const char* summary;   // one line of text
  const char* synopsis;  // arguments after the name
  const char* details;   // help text below the options
  std::span<const Option> options;
  Exit (*run)(const Arguments&);  // throws Failure, Error or std::bad_alloc
};

// Each command is defined in the file of its name.
const Command& compress_command() noexcept;
const Command& decompress_command() noexcept;
const Command& info_command() noexcept;
const Command& bench_codec_command() noexcept;
const Command& config_command() noexcept;
const Command& advise_command() noexcept;
const Command& run_command() noexcept;
const Command& doctor_command() noexcept;

}  // namespace taut::cli

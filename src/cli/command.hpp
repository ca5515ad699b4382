// A command of the program, as the table in main.cpp lists it.
#pragma once

#include "cli/arguments.hpp"
#include "cli/failure.hpp"

namespace taut::cli {

struct Command {
  const char* name;
  const char* summary;   // one line
  const char* synopsis;  // the arguments behind the name
  const char* details;   // what the help says below the options
  std::span<const Option> options;
  Exit (*run)(const Arguments&);  // throws Failure, Error or std::bad_alloc
};

// Each in the file of its name.
const Command& compress_command() noexcept;
const Command& decompress_command() noexcept;
const Command& info_command() noexcept;
const Command& bench_codec_command() noexcept;
const Command& config_command() noexcept;
const Command& advise_command() noexcept;
const Command& run_command() noexcept;
const Command& doctor_command() noexcept;

}  // namespace taut::cli

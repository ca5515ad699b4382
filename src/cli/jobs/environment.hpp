// Environment of the program: variables, installed files and other programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace taut::cli {

// Returns a variable of the environment; "" if it is not set.
std::string variable(std::string_view name);

// Returns the number of cores that this process may use.
int usable_cores() noexcept;

// Returns the path of libtaut_preload.so: the one that TAUT_PRELOAD names, else the one installed with this
// program; nothing if there is none.
std::optional<std::string> find_preload();

// Returns the message to the user if find_preload() finds nothing.
std::string missing_preload_message();

// Returns the path at which the shell would find a program; nothing if there is none.
std::optional<std::string> find_program(const std::string& name);

// Runs a program in the environment of this process plus `set`, and waits for its end. The terminal's signals
// reach the program alone; SIGTERM and SIGHUP are passed on to it. Returns its exit status; 128 plus the
// number of the signal if one ended it. Throws Failure if it cannot be started.
int run_to_end(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& set);

// Output of a program on stdout and stderr, at most 64 KiB, and its exit status.
struct Output {
  int status = -1;  // exit status; -1: not started, ended by a signal, or running for more than 10 s
  std::string text;
};
Output output_of(const std::vector<std::string>& command,
                 const std::vector<std::string>& more_environment = {});

}  // namespace taut::cli

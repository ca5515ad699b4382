// What lies around the program: its files, other programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace taut::cli {

// A variable of the environment; "" where there is none.
std::string variable(std::string_view name);

// libtaut_preload.so: what TAUT_PRELOAD names, else the one beside this program; nothing: there is none.
std::optional<std::string> find_preload();

// Where the shell would find a program; nothing: nowhere.
std::optional<std::string> find_program(const std::string& name);

// What a program prints on stdout and stderr, at most 64 KiB, and how it ends.
struct Output {
  int status = -1;  // exit status; -1: it did not start, was ended by a signal, or took more than 10 s
  std::string text;
};
Output output_of(const std::vector<std::string>& command,
                 const std::vector<std::string>& more_environment = {});

}  // namespace taut::cli

// Parser for the command lines of the examples that compare plain MPI and Taut: --name value.
#pragma once

#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "command_line.hpp"

namespace comparison {

// Functions that set an option to a value, by the option's name. They throw std::invalid_argument.
template <class Options>
using Setters = std::map<std::string, std::function<void(Options&, const std::string&)>>;

inline int count(const std::string& text, int least) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != 0 || value < least || value > 100000)
    throw std::invalid_argument("'" + text + "' is no whole number from " + std::to_string(least) + " on");
  return static_cast<int>(value);
}

// Sets the options that the arguments name. Throws std::invalid_argument.
template <class Options>
void set_options(Options& options, const Setters<Options>& setters, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
    } else if (const auto setter = setters.find(name); setter == setters.end()) {
      throw std::invalid_argument("unknown option '" + name + "'");
    } else if (i + 1 == argc) {
      throw std::invalid_argument(name + " wants a value");
    } else {
      setter->second(options, argv[++i]);
    }
  }
}

}  // namespace comparison

// Names of the files that a command reads and writes, one output for each input.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"

namespace taut::cli {

struct FileNames {
  std::string input, output;
};

// Returns the inputs of the command line, each with its output: what --output says, a file in the folder that
// --output names, or `usual(input)`. Standard input goes to standard output. Throws Failure(usage) if there
// is no input, and if two inputs would go to one output.
std::vector<FileNames> file_names(const Arguments& arguments, std::string (*usual)(const std::string& input));

// Returns the names of the inputs. Throws Failure(usage) if there is none; messages call it `what`.
const std::vector<std::string>& input_names(const Arguments& arguments, const char* what);

}  // namespace taut::cli

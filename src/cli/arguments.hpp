// Arguments of a command: options from a table, and positional names between them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compressor/file/failure.hpp"

namespace taut::cli {

using namespace file;  // commands fail and end as the code that reads and writes files does

struct Option {
  std::string_view name;   // name without its two dashes
  char letter;             // short form, with one dash; 0: none
  std::string_view value;  // name of its value in the help; empty: a switch; "[=X]": may be left out
  std::string_view help;

  bool may_lack_value() const noexcept { return value.empty() || value[0] == '['; }
};

class Arguments {
 public:
  // Parses the words. Throws Failure(usage) on an option that `known` does not list. `takes_command`: the
  // names are a command to be started, whose own options belong behind "--".
  Arguments(std::span<const Option> known, std::span<const char* const> words, bool takes_command = false);

  bool has(std::string_view option) const { return values_.contains(option); }
  std::optional<std::string> value(std::string_view option) const;  // value of the last occurrence
  std::span<const std::string> values(std::string_view option) const;
  const std::vector<std::string>& names() const noexcept { return names_; }

  // Returns the only name. Throws Failure(usage) unless there is exactly one; messages call it `what`.
  const std::string& only_name(const char* what) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;  // by option, in their order
  std::vector<std::string> names_;
};

// Returns the lines of a help text, one for each option.
std::string describe(std::span<const Option> options);

// Returns the parts of a text between separators. An empty text has one part, which is empty.
std::vector<std::string> split(std::string_view text, char separator);

// Parses a number above 0; messages name `option`.
double positive_number(std::string_view option, const std::string& text);

struct FileNames {
  std::string input, output;
};

// Returns the inputs of the command line, each with its output: what --output says, a file in the folder that
// --output names, or `default_output(input)`. Standard input goes to standard output. Throws Failure(usage)
// if there is no input, and if two inputs would go to one output.
std::vector<FileNames> file_names(const Arguments& arguments,
                                  std::string (*default_output)(const std::string& input));

// Returns the names of the inputs. Throws Failure(usage) if there is none; messages call it `what`.
const std::vector<std::string>& input_names(const Arguments& arguments, const char* what);

}  // namespace taut::cli

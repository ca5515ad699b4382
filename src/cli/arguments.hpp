// The arguments of a command: options from a table, and the names between them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace taut::cli {

struct Option {
  std::string_view name;   // without its two dashes
  char letter;             // for one dash; 0: none
  std::string_view value;  // what stands for its value in the help; empty: a switch
  std::string_view help;
};

class Arguments {
 public:
  // Throws Failure(usage) on what `known` does not list.
  Arguments(std::span<const Option> known, std::span<const char* const> words);

  bool has(std::string_view option) const { return values_.contains(option); }
  std::optional<std::string> value(std::string_view option) const;  // of the last occurrence
  const std::vector<std::string>& names() const noexcept { return names_; }

  // The one name that there must be; `what` stands for it in messages.
  const std::string& only_name(const char* what) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> names_;
};

// The lines of a help text, one for each option.
std::string describe(std::span<const Option> options);

// Numbers above 0; `option` is named in messages.
double positive_number(std::string_view option, const std::string& text);

}  // namespace taut::cli

// taut config: checks rules, and prints the settings in force.
#include <cstdio>

#include "cli/command.hpp"
#include "cli/rule_table.hpp"
#include "policy/text/options.hpp"

namespace taut::cli {
namespace {

constexpr Option options[] = {
    {"check", 0, "FILE", "read the rules of a TOML file and list them, or say what is wrong"},
    {"rules", 0, "RULES", "the same for rules in one line"},
    {"print", 0, "", "every TAUT_* variable with its value, and the rules that follow"},
};

constexpr const char* details =
    "Rules say which policy serves which call of a program that sets none itself. Example:\n"
    "taut config --rules 'Allreduce f32 >=1MiB : abs=1e-4 ; * : off'\n\n";

std::string value_of(const OptionInfo& option) {
  for (const char* const entry : environment()) {
    const std::string_view text = entry;
    if (text.starts_with(std::string(option.name) + "=")) return std::string(text.substr(text.find('=') + 1));
  }
  return "";
}

void print_options() {
  for (const OptionInfo& option : known_options()) {
    const std::string value = value_of(option);
    const std::string shown = !value.empty() ? value
                              : option.default_value[0] == '\0'
                                  ? "-"
                                  : std::string(option.default_value) + " (default)";
    std::printf("%-14s %-24s %s\n", option.name, shown.c_str(), option.summary);
  }
  for (const std::string& warning : taut::options().warnings) std::printf("\nwarning: %s\n", warning.c_str());
  std::puts("");
}

Exit run(const Arguments& arguments) {
  const auto file = arguments.value("check"), line = arguments.value("rules");
  if (!file && !line && !arguments.has("print"))
    reject("nothing to do; use --check FILE, --rules RULES or --print");
  if (!arguments.names().empty())
    reject("'" + arguments.names()[0] + "' belongs to no option; use --check FILE");
  if (arguments.has("print")) {
    print_options();
    const Options& asked = taut::options();
    print_rules(read_rules(asked.rules, asked.config, asked.kernels));
  }
  if (file || line) print_rules(read_rules(line.value_or(""), file.value_or(""), ""));
  return Exit::ok;
}

}  // namespace

const Command& config_command() noexcept {
  static constexpr Command command{"config",
                                   "rules and settings: are they right, what is in force",
                                   "[--check FILE] [--rules RULES] [--print]",
                                   details,
                                   options,
                                   run};
  return command;
}

}  // namespace taut::cli

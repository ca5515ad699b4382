// taut config: checks rules, and prints the settings in force.
#include <algorithm>
#include <cstdio>

#include "cli/command.hpp"
#include "cli/jobs/environment.hpp"
#include "communication/policy/plan/rules.hpp"
#include "compressor/base/options.hpp"

namespace taut::cli {
namespace {

constexpr Option options[] = {
    {"check", 0, "FILE", "read the rules of a TOML file and list them, or say what is wrong"},
    {"rules", 0, "RULES", "the same for rules in one line"},
    {"print", 0, "", "every TAUT_* variable with its value, and the rules that follow"},
};

constexpr const char* details =
    "Rules say which policy serves which call of a program that sets none itself. Example:\n"
    "taut config --rules 'Allreduce f32 >=1MiB : abs:1e-4 ; * : off'\n\n";

// Prints a numbered line for each rule, in order, and a note on how rules are applied.
void print_rules(const Rules& rules) {
  if (rules.empty()) {
    std::puts("no rules: calls on communicators without a policy are plain MPI's");
    return;
  }
  int number = 0;
  for (const Rule& rule : rules.all()) std::printf("%2d  %s\n", ++number, text_of(rule).c_str());
  const bool off = std::ranges::all_of(rules.all(), [](const Rule& rule) { return rule.policy.off; });
  std::puts(off ? "all of them leave calls to plain MPI"
                : "the first that fits a call serves it; calls that none fits are plain MPI's");
}

void print_options() {
  for (const OptionInfo& option : known_options()) {
    const std::string value = variable(option.name);
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

extern constinit const Command config_command{"config",
                                              "rules and settings: are they right, what is in force",
                                              "[--check FILE] [--rules RULES] [--print]",
                                              details,
                                              options,
                                              run};

}  // namespace taut::cli

#include "cli/rule_table.hpp"

#include <algorithm>
#include <cstdio>

namespace taut::cli {

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

}  // namespace taut::cli

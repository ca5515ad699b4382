// Rules in readable form.
#pragma once

#include "policy/plan/rules.hpp"

namespace taut::cli {

// Prints a numbered line for each rule, in order, and a note on how rules are applied.
void print_rules(const Rules& rules);

}  // namespace taut::cli

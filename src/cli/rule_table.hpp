// Rules for people.
#pragma once

#include "policy/plan/rules.hpp"

namespace taut::cli {

// A numbered line for each, in their order, and how they are used.
void print_rules(const Rules& rules);

}  // namespace taut::cli

// Counts of calls that Taut does not serve, by name, for reports: of the functions in
// src/preload/unserved.txt.
#pragma once

#include "dropin/next_symbol.hpp"

namespace taut::dropin {

void count_unserved(Wrapped function) noexcept;

// In MPI_Init: has reports tell the counts.
void begin_counting_unserved() noexcept;

}  // namespace taut::dropin

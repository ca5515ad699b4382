// Counts, by function name, of the calls that Taut does not serve, for reports. The functions are listed in
// src/communication/preload/unserved.txt.
#pragma once

#include "communication/dropin/next_symbol.hpp"

namespace taut::dropin {

void count_unserved(Wrapped function) noexcept;

// Makes reports include these counts; called in MPI_Init.
void begin_counting_unserved() noexcept;

}  // namespace taut::dropin

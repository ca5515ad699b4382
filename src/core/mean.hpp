// From a sum to a mean.
#pragma once

#include "core/slice.hpp"

namespace taut {

// values <- values / n, each rounded once (halves: from the quotient in float). Not for integers.
void divide(Slice values, int n) noexcept;

}  // namespace taut

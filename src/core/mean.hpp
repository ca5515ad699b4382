// Division of a sum by the number of ranks, which gives the mean.
#pragma once

#include "core/slice.hpp"

namespace taut {

// Divides: values <- values / n, each rounded once (halves: from the quotient in float). Not for integers.
void divide(Slice values, int n) noexcept;

}  // namespace taut

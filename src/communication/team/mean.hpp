// Division of a sum by the number of ranks, which gives the mean.
#pragma once

#include "compressor/values/slice.hpp"

namespace taut {

// Computes values <- values / n, rounded once; 16-bit values are divided in float and then rounded. Integers
// are left unchanged.
void divide(Slice values, int n) noexcept;

}  // namespace taut

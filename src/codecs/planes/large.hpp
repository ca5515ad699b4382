// Integers of the large range back to values, as a plain loop that the compiler vectorises for each kernel
// set.
#pragma once

#include "codecs/planes/quantiser.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

template <class T>
void dequantise_large(const std::int32_t* q, std::size_t groups, const Quantiser<T>& z, T* values) noexcept {
  const double step = static_cast<double>(z.step);
  for (std::size_t i = 0; i < groups * group_values; ++i)
    values[i] = static_cast<T>(static_cast<double>(q[i]) * step);
}

}  // namespace
}  // namespace taut::planes

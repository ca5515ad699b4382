// Search for packed integers as a plain loop, which the compiler vectorises for each kernel set.
#pragma once

#include "core/packed_bits.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

template <class T>
bool find_tiny(const T* values, std::size_t n) noexcept {
  return any_tiny(values, n);
}

}  // namespace
}  // namespace taut::planes

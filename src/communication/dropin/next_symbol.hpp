// Next functions: the functions that the program would call without the drop-in, another tool's or MPI's own.
#pragma once

#include <array>

#include "wrapped_functions.hpp"

namespace taut::dropin {

// Next functions, indexed by Wrapped; null if there is none. Set before any wrapper is called.
extern std::array<void*, std::size(wrapped_names)> nexts;

template <class Function>
Function next_as(Wrapped function) noexcept {
  return reinterpret_cast<Function>(nexts[static_cast<std::size_t>(function)]);
}

// Returns the next function of any name; null if there is none.
void* next_of(const char* name) noexcept;

// Calls the next function of `function`. The types of the arguments have to be those of its parameters.
template <class... Arguments>
int call_next(Wrapped function, Arguments... arguments) {
  return next_as<int (*)(Arguments...)>(function)(arguments...);
}

}  // namespace taut::dropin

// Calls of Fortran: what it passes where C has special addresses, and its next functions.
#pragma once

#include <mpi.h>

#include <initializer_list>

#include "dropin/next.hpp"

namespace taut::dropin {

// Calls the next function of the first of these names that there is. Arguments are addresses.
template <class... Arguments>
void call_fortran(std::initializer_list<const char*> names, Arguments*... arguments) noexcept {
  for (const char* const name : names)
    if (void* const next = next_of(name))
      return reinterpret_cast<void (*)(Arguments * ...)>(next)(arguments...);
}

#ifdef OPEN_MPI
static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of integers are handed on as they are");

// The buffer that C passes for one of Fortran, whose special addresses are those of variables in common
// blocks.
void* c_buffer(void* address) noexcept;
#endif

}  // namespace taut::dropin

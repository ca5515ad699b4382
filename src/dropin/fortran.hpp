// What Fortran passes where C has special addresses: those of variables in common blocks of Open MPI.
#pragma once

#include <mpi.h>

#ifdef OPEN_MPI
#include <initializer_list>

#include "dropin/next.hpp"

namespace taut::dropin {

static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of integers are handed on as they are");

// The buffer that C passes for one of Fortran.
void* c_buffer(void* address) noexcept;

// Calls the next function of the first of these names that there is.
template <class... Arguments>
void call_fortran(std::initializer_list<const char*> names, Arguments... arguments) noexcept {
  for (const char* const name : names)
    if (void* const next = next_of(name)) return reinterpret_cast<void (*)(Arguments...)>(next)(arguments...);
}

}  // namespace taut::dropin
#endif

// What Fortran passes where C has special addresses: those of variables in common blocks of Open MPI.
#pragma once

#include <mpi.h>

#ifdef OPEN_MPI
namespace taut::dropin {

static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of integers are handed on as they are");

// The buffer that C passes for one of Fortran.
void* c_buffer(void* address) noexcept;

}  // namespace taut::dropin
#endif

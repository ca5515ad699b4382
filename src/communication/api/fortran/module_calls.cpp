// C functions of the Fortran module `taut` beyond those that generate.py makes.
#include <taut/taut.h>

#include <string>

#include "communication/mpi/errors.hpp"

#ifndef MPI_ABI  // the standard ABI has no Fortran
using namespace taut;
using namespace taut::api;

extern "C" {

TAUT_API MPI_Fint TAUT_F_Avg() { return PMPI_Op_c2f(TAUT_Avg()); }

TAUT_API int TAUT_F_Not_contiguous(MPI_Fint comm, const char* argument) {
  return guard(PMPI_Comm_f2c(comm), [&]() -> int {
    throw Error(Status::invalid_argument,
                std::string(argument) + " is not contiguous: pass a contiguous array, or a copy");
  });
}

}  // extern "C"
#endif

// Conversion of Fortran's arguments to those of C: special addresses, arrays of datatypes.
#pragma once

#include <mpi.h>

#include <vector>

namespace taut::api {

#ifndef MPI_ABI  // the standard ABI has no Fortran

// Returns the C address for a Fortran buffer. Fortran's MPI_IN_PLACE and MPI_BOTTOM are variables.
void* c_buffer(const void* address) noexcept;

// Returns true if the address is that of Fortran's variable MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE.
bool is_status_ignore(const void* address) noexcept;

// Returns the C status for a status of the module mpi_f08, whose type has the layout of C's in MPICH and Open
// MPI.
inline MPI_Status* c_status(MPI_Status* status) noexcept {
  return is_status_ignore(status) ? MPI_STATUS_IGNORE : status;
}
inline MPI_Status* c_statuses(MPI_Status* statuses) noexcept {
  return is_status_ignore(statuses) ? MPI_STATUSES_IGNORE : statuses;
}

// C datatypes for an array of n Fortran datatypes. `lasts`: MPI may read the array until a request is
// complete or freed, and Taut is not told of that. Such arrays are never freed, and shared by calls with the
// same datatypes.
class TypesFrom {
 public:
  TypesFrom(const MPI_Fint* types, int n, bool lasts);
  const MPI_Datatype* data() const noexcept { return lasting_ != nullptr ? lasting_ : own_.data(); }

 private:
  std::vector<MPI_Datatype> own_;
  const MPI_Datatype* lasting_ = nullptr;
};
#endif

}  // namespace taut::api

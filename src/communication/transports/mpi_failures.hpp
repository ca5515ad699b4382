// Errors of MPI, and failures of processes as MPI reports them: User-Level Failure Mitigation (ULFM), an
// extension of Open MPI 5 and MPICH.
#pragma once

#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <string>

#include "compressor/base/status.hpp"

// Null in an MPI without these functions.
extern "C" int PMPIX_Comm_revoke(MPI_Comm comm) __attribute__((weak));
extern "C" int PMPIX_Comm_is_revoked(MPI_Comm comm, int* flag) __attribute__((weak));

namespace taut {

// Error that a function of MPI has returned.
class MpiError final : public Error {
 public:
  MpiError(int code, const std::string& message) : Error(Status::transport_failed, message), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

// Throws MpiError unless `code`, which the MPI function `call` returned, is MPI_SUCCESS.
inline void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  PMPI_Error_string(code, text, &length);
  throw MpiError(code, std::string(call) + ": " + text);
}

// Returns true if the code says that a process has failed, or that the communicator is revoked.
inline bool is_process_failure([[maybe_unused]] int code) noexcept {
#ifdef MPIX_ERR_PROC_FAILED
  int error_class = MPI_SUCCESS;
  if (PMPI_Error_class(code, &error_class) != MPI_SUCCESS) return false;
  return error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_PROC_FAILED_PENDING ||
         error_class == MPIX_ERR_REVOKED;
#else
  return false;
#endif
}

// Returns the error code of operations on a revoked communicator if `comm` is one, else MPI_SUCCESS.
inline int code_if_revoked([[maybe_unused]] MPI_Comm comm) noexcept {
#ifdef MPIX_ERR_PROC_FAILED
  int revoked = 0;
  if (PMPIX_Comm_is_revoked != nullptr) PMPIX_Comm_is_revoked(comm, &revoked);
  return revoked != 0 ? MPIX_ERR_REVOKED : MPI_SUCCESS;
#else
  return MPI_SUCCESS;
#endif
}

}  // namespace taut

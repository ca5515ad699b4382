// TAUT_Avg(): the operator for the mean over the ranks, which MPI lacks. Plain MPI computes a sum, which is
// divided afterwards.
#pragma once

#include <mpi.h>

#include <atomic>

#include "communication/mpi/failure.hpp"

namespace taut::api {

extern std::atomic<MPI_Op> average;  // result of TAUT_Avg(); MPI_OP_NULL until its first call

inline bool is_average(MPI_Op op) noexcept {
  const MPI_Op ours = average.load(std::memory_order_acquire);
  return ours != MPI_OP_NULL && op == ours;
}

// Returns the operator that plain MPI gets for `op`.
inline MPI_Op plain_operator(MPI_Op op) noexcept { return is_average(op) ? MPI_SUM : op; }

// Returns true if the mean of such values over the ranks of `comm` is defined: for floating-point types, on
// an intracommunicator.
bool has_average(MPI_Datatype type, MPI_Comm comm);

// Divides values by the number of ranks. Their type must have an average. The failure is TAUT_ERR_ARGUMENT if
// the values are in memory of a GPU that cannot be used; they stay the sum then.
Failure divide(void* values, MPI_Count count, MPI_Datatype type, int ranks);

// Frees the operator. To be called before MPI is finalised.
void free_average() noexcept;

}  // namespace taut::api

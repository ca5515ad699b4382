// TAUT_Avg(): the mean over the ranks, which MPI has no operator for. To plain MPI it is a sum, which is
// divided afterwards.
#pragma once

#include <mpi.h>

#include <atomic>

namespace taut::api {

extern std::atomic<MPI_Op> average;  // MPI_OP_NULL: nobody has asked for it

inline bool is_average(MPI_Op op) noexcept {
  const MPI_Op ours = average.load(std::memory_order_acquire);
  return ours != MPI_OP_NULL && op == ours;
}

// The operator for plain MPI.
inline MPI_Op plain_operator(MPI_Op op) noexcept { return is_average(op) ? MPI_SUM : op; }

// Whether there is a mean of such values over the ranks of `on`: floating-point ones, of one group.
bool has_average(MPI_Datatype type, MPI_Comm on) noexcept;

// values <- values / ranks, of a type that has an average. An MPI code, raised on `comm`: TAUT_ERR_ARGUMENT
// where the values are in memory of a GPU; they are the sum then.
int divide(void* values, MPI_Count count, MPI_Datatype type, int ranks, MPI_Comm comm) noexcept;

// Before MPI is finalised.
void free_average() noexcept;

}  // namespace taut::api

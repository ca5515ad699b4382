// TAUT_Avg().
#include "communication/mpi/average.hpp"

#include <taut/taut.h>

#include <mutex>

#include "communication/api/state/comm_registry.hpp"
#include "communication/mpi/datatypes.hpp"

using namespace taut;
using namespace taut::api;

namespace {

std::mutex making;

// Implements the MPI operator of TAUT_Avg(). MPI calls it only if the program passes the operator to an MPI
// function.
extern "C" void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  const auto known = known_datatype(*type);
  if (!known) return;
  const auto n = static_cast<std::size_t>(*count);
  reduce_values({{inout, n, known->type}}, {{in, n, known->type}}, Reduction::sum);
}

}  // namespace

extern "C" MPI_Op TAUT_Avg(void) {
  const std::lock_guard lock(making);
  if (average == MPI_OP_NULL) {
    MPI_Op made = MPI_OP_NULL;
    if (!free_at_finalize() || PMPI_Op_create(add, 1, &made) != MPI_SUCCESS) return MPI_OP_NULL;
    average.store(made, std::memory_order_release);
  }
  return average;
}

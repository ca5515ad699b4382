#include "api/args/average.hpp"

#include <taut/taut.h>

#include <mutex>

#include "api/args/datatypes.hpp"
#include "api/errors.hpp"
#include "api/state/comm_registry.hpp"
#include "core/device_memory.hpp"
#include "core/mean.hpp"
#include "gpu/device_values.hpp"

namespace taut::api {
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

std::atomic<MPI_Op> average{MPI_OP_NULL};

bool has_average(MPI_Datatype type, MPI_Comm on) {
  int inter = 0;
  PMPI_Comm_test_inter(on, &inter);
  const auto known = known_datatype(type);
  return inter == 0 && known && known->computes && info_of(known->type).family != Family::integer;
}

Failure divide(void* values, MPI_Count count, MPI_Datatype type, int ranks) {
  const auto known = known_datatype(type);
  if (!known) return {};
  return attempt([&]() -> Failure {
    const Slice sums{{values, static_cast<std::size_t>(count), known->type}};
    if (!taut::on_device(values)) {
      taut::divide(sums, ranks);
      return {};
    }
    const Status status = gpu::divide(sums, ranks);
    return status == Status::ok ? Failure{} : failure_of(status);
  });
}

void free_average() noexcept {
  MPI_Op op = average.exchange(MPI_OP_NULL);
  if (op != MPI_OP_NULL) PMPI_Op_free(&op);
}

}  // namespace taut::api

using namespace taut::api;

extern "C" {

MPI_Op TAUT_Avg(void) {
  const std::lock_guard lock(making);
  if (average == MPI_OP_NULL) {
    MPI_Op made = MPI_OP_NULL;
    if (!free_at_finalize() || PMPI_Op_create(add, 1, &made) != MPI_SUCCESS) return MPI_OP_NULL;
    average.store(made, std::memory_order_release);
  }
  return average;
}

}  // extern "C"

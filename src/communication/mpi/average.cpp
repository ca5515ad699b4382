#include "communication/mpi/average.hpp"

#include "communication/gpu/device_values.hpp"
#include "communication/mpi/datatypes.hpp"
#include "communication/mpi/errors.hpp"
#include "communication/team/place.hpp"
#include "compressor/base/device_memory.hpp"

namespace taut::api {

std::atomic<MPI_Op> average{MPI_OP_NULL};

bool has_average(MPI_Datatype type, MPI_Comm comm) {
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
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

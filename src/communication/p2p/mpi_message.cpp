#include "communication/p2p/mpi_message.hpp"

#include <algorithm>

namespace taut::p2p {

std::size_t room(const MpiMessage& at) {
  return static_cast<std::size_t>(std::max<MPI_Count>(api::bytes_of(at.count, at.type), 0));
}

std::size_t bytes_of_values(const MpiMessage& message, const api::DatatypeLayout& kind) {
  return static_cast<std::size_t>(message.count) * kind.values_per_element * size_of(kind.type());
}

std::size_t received_bytes(const MPI_Status& status) noexcept {
  MPI_Count bytes = 0;
#if MPI_VERSION >= 4
  PMPI_Get_count_c(&status, MPI_BYTE, &bytes);
#else
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
#endif
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

// Sets the count by the function of MPI 3, because MPICH 4.0 has no MPI_Status_set_elements_c.
void set_received_bytes(MPI_Status& status, std::size_t bytes) noexcept {
  PMPI_Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(bytes));
}

}  // namespace taut::p2p

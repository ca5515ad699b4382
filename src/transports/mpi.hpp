// Messages over a private communicator of MPI: lanes are tags.
#pragma once

#include <mpi.h>

#include <memory>

#include "core/transport.hpp"

namespace taut {

// Collective over `comm`, an intracommunicator. The private communicator has its ranks, none of its
// attributes, and reports errors by return codes; it is freed with the transport. Throws
// Error(transport_failed).
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm);

}  // namespace taut

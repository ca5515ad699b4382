// Messages over a private communicator of MPI: lanes are tags.
#pragma once

#include <mpi.h>

#include <memory>

#include "core/nodes.hpp"
#include "core/transport.hpp"

namespace taut {

class MpiTransport : public Transport {
 public:
  // The private communicator. Its collective calls, which no message meets, are the caller's.
  virtual MPI_Comm communicator() const noexcept = 0;
};

// Collective over `comm`, an intracommunicator. The private communicator has its ranks, none of its
// attributes, and reports errors by return codes; it is freed with the transport. Throws
// Error(transport_failed).
std::unique_ptr<MpiTransport> make_mpi_transport(MPI_Comm comm);

// The nodes of its ranks as MPI sees them; or, unless that is 0, `ranks_per_node` ranks after another have
// one. Collective over `comm`, which no message may meet. Throws Error(transport_failed).
Nodes find_nodes(MPI_Comm comm, int ranks_per_node);

}  // namespace taut

// MPI transport: messages over a private communicator of MPI; lanes are tags.
#pragma once

#include <mpi.h>

#include <memory>

#include "communication/team/nodes.hpp"
#include "communication/team/transport.hpp"

namespace taut {

class MpiTransport : public Transport {
 public:
  // Returns the private communicator. The caller may make collective calls on it, which never match messages
  // of the transport.
  virtual MPI_Comm communicator() const noexcept = 0;
};

// Makes a transport. Collective over `comm`, an intracommunicator. The private communicator has the ranks of
// `comm`, none of its attributes, and reports errors by return codes; it is freed with the transport. Throws
// MpiError, as the transport does. Where MPI reports failed processes, such an error on one rank ends the
// waiting of all ranks. The revocation of `comm` does so too, if `freed` is given: true once `comm` is freed.
std::unique_ptr<MpiTransport> make_mpi_transport(MPI_Comm comm, std::shared_ptr<const bool> freed = nullptr);

// Returns the nodes of the ranks of `comm` as MPI reports them. If `ranks_per_node` is not 0, each group of
// that many consecutive ranks counts as a node instead. Collective over `comm`, on which no other
// communication may interfere. Throws Error(transport_failed).
Nodes find_nodes(MPI_Comm comm, int ranks_per_node);

// Returns true if MPI says that it reads and writes memory of CUDA devices: by the key
// mpi_memory_alloc_kinds of the communicator (MPI 4.1), or by MPIX_Query_cuda_support(). Local.
bool accesses_cuda_memory(MPI_Comm comm);

}  // namespace taut

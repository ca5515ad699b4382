// Neighbourhood collectives: the buffers of a call, and an uncompressed exchange by point-to-point messages
// for calls that cannot be left to MPI's own function.
#pragma once

#include "communication/mpi/call_buffers.hpp"
#include "communication/mpi/mpi_call.hpp"
#include "communication/mpi/topology.hpp"

namespace taut::api {

// Returns the buffers of a call: one block for each neighbour, in their order; in an allgather the only block
// that is sent. Blocks for MPI_PROC_NULL are left out. Returns nothing if MPI has to report an error.
std::optional<CallBuffers> neighbour_buffers(const MpiCall& call, const Topology& topology);

// NeighbourMessages: the point-to-point messages by which an uncompressed neighbourhood collective runs on
// Taut's private communicator. That communicator has the ranks of the user's communicator but not its
// topology, so that MPI's own function cannot be called there.
class NeighbourMessages {
 public:
  // Starts the messages. Returns an MPI error code, already passed to the error handler; throws.
  int start(const MpiCall& call, const Topology& topology, MPI_Comm comm);
  bool started() const noexcept { return started_; }

  // Return an MPI error code. test() sets `complete` when all messages are complete.
  int test(int& complete);
  int wait();

 private:
  std::vector<MPI_Request> requests_;
  bool started_ = false;
};

}  // namespace taut::api

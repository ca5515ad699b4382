// Sending of coded messages: MPI sends the frames as it would send the values.
#pragma once

#include "communication/mpi/pmpi_counts.hpp"
#include "communication/p2p/shared_message_coder.hpp"

namespace taut::p2p {

// MPI functions that send one message, blocking and nonblocking.
using SendFunction = int (*)(const void*, api::pmpi::Count, MPI_Datatype, int, int, MPI_Comm);
using StartFunction = int (*)(const void*, api::pmpi::Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

// Buffer arguments of a send.
struct SendBuffer {
  const void* at;
  api::pmpi::Count count;
  MPI_Datatype type;
};

// Returns the buffer arguments of a coded message that replaces values of `type`: elements of `type` if it is
// predefined, otherwise bytes.
SendBuffer buffer_of(const EncodedMessage& made, MPI_Datatype type);

// Send a coded message in place of `message`, or start to send it. Return an MPI error code.
int send(SendFunction function, const EncodedMessage& made, const SendArguments& message);
int start(StartFunction function, const EncodedMessage& made, const SendArguments& message,
          MPI_Request* request);

}  // namespace taut::p2p

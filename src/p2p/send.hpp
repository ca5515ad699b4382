// Coded messages in calls of MPI that send: MPI does with the frames what it would do with the values.
#pragma once

#include "api/args/pmpi_counts.hpp"
#include "p2p/coder.hpp"

namespace taut::p2p {

// MPI's functions that send one message, blocking and not.
using SendFunction = int (*)(const void*, api::pmpi::Count, MPI_Datatype, int, int, MPI_Comm);
using StartFunction = int (*)(const void*, api::pmpi::Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

// The buffer arguments of a send.
struct SendBuffer {
  const void* at;
  api::pmpi::Count count;
  MPI_Datatype type;
};

// A coded message in the place of values of `type`: elements of a predefined type; else bytes.
SendBuffer buffer_of(const EncodedMessage& made, MPI_Datatype type) noexcept;

// Sends a coded message in the place of `message`, or starts to. An MPI code.
int send(SendFunction function, const EncodedMessage& made, const SendArguments& message) noexcept;
int start(StartFunction function, const EncodedMessage& made, const SendArguments& message,
          MPI_Request* request) noexcept;

}  // namespace taut::p2p

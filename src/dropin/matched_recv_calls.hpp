// Calls that receive probed messages (docs/adr/0015). The generated wrappers call the function templates,
// whose `function` takes counts of type Count.
#pragma once

#include "dropin/large_counts.hpp"
#include "dropin/messages.hpp"
#include "p2p/request_table.hpp"

namespace taut::dropin {

template <class Count>
int mrecv(Wrapped function, void* buf, Count count, MPI_Datatype type, MPI_Message* message,
          MPI_Status* status) noexcept {
  auto taken = p2p::receive_taken(message);
  if (!taken) return call_next(function, buf, count, type, message, status);
  p2p::ReadableStatus readable(status);
  const int code = PMPI_Wait(&taken->posted.request, &*readable);
  if (code != MPI_SUCCESS) return code;
  return p2p::deliver(taken->posted.detached, here(buf, count, type, taken->comm), *readable);
}

template <class Count>
int imrecv(Wrapped function, void* buf, Count count, MPI_Datatype type, MPI_Message* message,
           MPI_Request* request) noexcept {
  auto taken = p2p::receive_taken(message);
  if (!taken) return call_next(function, buf, count, type, message, request);
  *request = taken->posted.request;
  p2p::track_recv(*request, here(buf, count, type, taken->comm), std::move(taken->posted.detached));
  return MPI_SUCCESS;
}

}  // namespace taut::dropin

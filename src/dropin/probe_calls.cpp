// Calls that probe for messages, and calls that receive probed messages (docs/adr/0015).
#include <taut/taut.h>

#include "api/args/pmpi_counts.hpp"
#include "core/task.hpp"
#include "dropin/large_counts.hpp"
#include "dropin/messages.hpp"
#include "p2p/request_table.hpp"

using namespace taut::dropin;
using namespace taut::p2p;

namespace {

// Repeats `look(&there)` until a message is there. A waiting thread does not keep other threads from
// receiving.
template <class Look>
int look_until_there(Look look) noexcept {
  int there = 0, code = MPI_SUCCESS;
  for (taut::Backoff backoff; there == 0 && code == MPI_SUCCESS; backoff.pause()) code = look(&there);
  return code;
}

template <class Count>
int mrecv(Wrapped function, void* buf, Count count, MPI_Datatype type, MPI_Message* message,
          MPI_Status* status) noexcept {
  auto taken = receive_taken(message);
  if (!taken) return call_next(function, buf, count, type, message, status);
  ReadableStatus readable(status);
  const int code = PMPI_Wait(&taken->posted.request, &*readable);
  return code == MPI_SUCCESS ? deliver(taken->posted.detached, here(buf, count, type, taken->comm), *readable)
                             : code;
}

template <class Count>
int imrecv(Wrapped function, void* buf, Count count, MPI_Datatype type, MPI_Message* message,
           MPI_Request* request) noexcept {
  auto taken = receive_taken(message);
  if (!taken) return call_next(function, buf, count, type, message, request);
  *request = taken->posted.request;
  track_recv(*request, here(buf, count, type, taken->comm), std::move(taken->posted.detached));
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

TAUT_API int taut_dropin_MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const Endpoint* const endpoint = program_endpoint();
  if (endpoint == nullptr) return call_next(Wrapped::MPI_Iprobe, source, tag, comm, flag, status);
  ReadableStatus readable(status);
  return ProbeQueue().probe({source, tag, comm}, endpoint->format(), flag, *readable);
}

TAUT_API int taut_dropin_MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const Endpoint* const endpoint = program_endpoint();
  if (endpoint == nullptr) return call_next(Wrapped::MPI_Probe, source, tag, comm, status);
  ReadableStatus readable(status);
  return look_until_there([&](int* there) {
    return ProbeQueue().probe({source, tag, comm}, endpoint->format(), there, *readable);
  });
}

TAUT_API int taut_dropin_MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                                     MPI_Status* status) {
  const Endpoint* const endpoint = program_endpoint();
  if (endpoint == nullptr) return call_next(Wrapped::MPI_Improbe, source, tag, comm, flag, message, status);
  ReadableStatus readable(status);
  return ProbeQueue().take({source, tag, comm}, endpoint->format(), flag, message, *readable);
}

TAUT_API int taut_dropin_MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message,
                                    MPI_Status* status) {
  const Endpoint* const endpoint = program_endpoint();
  if (endpoint == nullptr) return call_next(Wrapped::MPI_Mprobe, source, tag, comm, message, status);
  ReadableStatus readable(status);
  return look_until_there([&](int* there) {
    return ProbeQueue().take({source, tag, comm}, endpoint->format(), there, message, *readable);
  });
}

TAUT_API int taut_dropin_MPI_Mrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message,
                                   MPI_Status* status) {
  return mrecv(Wrapped::MPI_Mrecv, buf, count, type, message, status);
}

TAUT_API int taut_dropin_MPI_Mrecv_c(void* buf, MPI_Count count, MPI_Datatype type, MPI_Message* message,
                                     MPI_Status* status) {
  const auto one = [&](Wrapped function, auto n) { return mrecv(function, buf, n, type, message, status); };
  return by_large(Wrapped::MPI_Mrecv_c, Wrapped::MPI_Mrecv, MPI_COMM_WORLD, one, count);
}

TAUT_API int taut_dropin_MPI_Imrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message,
                                    MPI_Request* request) {
  return imrecv(Wrapped::MPI_Imrecv, buf, count, type, message, request);
}

TAUT_API int taut_dropin_MPI_Imrecv_c(void* buf, MPI_Count count, MPI_Datatype type, MPI_Message* message,
                                      MPI_Request* request) {
  const auto one = [&](Wrapped function, auto n) { return imrecv(function, buf, n, type, message, request); };
  return by_large(Wrapped::MPI_Imrecv_c, Wrapped::MPI_Imrecv, MPI_COMM_WORLD, one, count);
}

}  // extern "C"

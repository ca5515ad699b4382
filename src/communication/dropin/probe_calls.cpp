// Calls that probe for messages (docs/adr/0015).
#include <taut/taut.h>

#include "communication/dropin/next_symbol.hpp"
#include "communication/p2p/request_table.hpp"
#include "communication/team/task.hpp"

using namespace taut::dropin;
using namespace taut::p2p;

namespace {

// Repeats `look(&there)` until a message is there. A waiting thread does not keep other threads from
// receiving.
template <class Look>
int look_until_there(Look look) {
  int there = 0, code = MPI_SUCCESS;
  for (taut::Backoff backoff; there == 0 && code == MPI_SUCCESS; backoff.pause()) code = look(&there);
  return code;
}

}  // namespace

extern "C" {

TAUT_API int taut_dropin_MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const Endpoint* const endpoint = program_endpoint();
  if (endpoint == nullptr) return call_next(Wrapped::MPI_Iprobe, source, tag, comm, flag, status);
  ReadableStatus readable(status);
  return probe({source, tag, comm}, endpoint->format(), flag, *readable);
}

TAUT_API int taut_dropin_MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const Endpoint* const endpoint = program_endpoint();
  if (endpoint == nullptr) return call_next(Wrapped::MPI_Probe, source, tag, comm, status);
  ReadableStatus readable(status);
  return look_until_there([&](int* there) {
    return probe({source, tag, comm}, endpoint->format(), there, *readable);
  });
}

TAUT_API int taut_dropin_MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                                     MPI_Status* status) {
  const Endpoint* const endpoint = program_endpoint();
  if (endpoint == nullptr) return call_next(Wrapped::MPI_Improbe, source, tag, comm, flag, message, status);
  ReadableStatus readable(status);
  return take({source, tag, comm}, endpoint->format(), flag, message, *readable);
}

TAUT_API int taut_dropin_MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message,
                                    MPI_Status* status) {
  const Endpoint* const endpoint = program_endpoint();
  if (endpoint == nullptr) return call_next(Wrapped::MPI_Mprobe, source, tag, comm, message, status);
  ReadableStatus readable(status);
  return look_until_there([&](int* there) {
    return take({source, tag, comm}, endpoint->format(), there, message, *readable);
  });
}

}  // extern "C"

// Nonblocking calls that send and receive. The values that they send are not coded.
#include <taut/taut.h>

#include "dropin/detached_sends.hpp"
#include "dropin/large_counts.hpp"
#include "dropin/messages.hpp"
#include "p2p/request_table.hpp"

using namespace taut::dropin;
using namespace taut::p2p;

namespace {

// Starts the send and the receive of one call. `start(&request)` makes one request for both. If MPI lacks the
// call, or if the message to be received may have been probed for, the program's request is that of the
// receive, and the values are sent from memory owned by Taut.
template <class Start>
int send_and_receive(Wrapped function, const RecvBuffer& sent, int dest, int sendtag, const MatchKey& key,
                     const RecvBuffer& at, MPI_Request* request, Start start) noexcept {
  PostedReceive posted;
  int code = MPI_SUCCESS;
  if (has(function) && !may_be_probed()) {
    code = start(&posted.request);
  } else {
    code = taut::api::guard(key.comm, [&] { return send_detached(sent, dest, sendtag); });
    if (code == MPI_SUCCESS) code = post(key, at, posted);
  }
  if (code == MPI_SUCCESS) hand_over(std::move(posted), at, request);
  return code;
}

// ---- The calls; `function` takes counts of type Count

template <class Count>
int isendrecv(Wrapped function, const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest,
              int sendtag, void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
              MPI_Comm comm, MPI_Request* request) noexcept {
  const auto start = [&](MPI_Request* made) {
    return call_next(function, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                     source, recvtag, comm, made);
  };
  return send_and_receive(function, here(const_cast<void*>(sendbuf), sendcount, sendtype, comm), dest,
                          sendtag, {source, recvtag, comm}, here(recvbuf, recvcount, recvtype, comm), request,
                          start);
}

template <class Count>
int isendrecv_replace(Wrapped function, void* buf, Count count, MPI_Datatype type, int dest, int sendtag,
                      int source, int recvtag, MPI_Comm comm, MPI_Request* request) noexcept {
  const RecvBuffer values = here(buf, count, type, comm);
  const auto start = [&](MPI_Request* made) {
    return call_next(function, buf, count, type, dest, sendtag, source, recvtag, comm, made);
  };
  return send_and_receive(function, values, dest, sendtag, {source, recvtag, comm}, values, request, start);
}

}  // namespace

extern "C" {

TAUT_API int taut_dropin_MPI_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                                       int sendtag, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                       int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  return isendrecv(Wrapped::MPI_Isendrecv, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                   recvtype, source, recvtag, comm, request);
}

TAUT_API int taut_dropin_MPI_Isendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                         int dest, int sendtag, void* recvbuf, MPI_Count recvcount,
                                         MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                                         MPI_Request* request) {
  const auto one = [&](Wrapped function, auto n, auto m) {
    return isendrecv(function, sendbuf, n, sendtype, dest, sendtag, recvbuf, m, recvtype, source, recvtag,
                     comm, request);
  };
  return by_large(Wrapped::MPI_Isendrecv_c, Wrapped::MPI_Isendrecv, comm, one, sendcount, recvcount);
}

TAUT_API int taut_dropin_MPI_Isendrecv_replace(void* buf, int count, MPI_Datatype type, int dest, int sendtag,
                                               int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  return isendrecv_replace(Wrapped::MPI_Isendrecv_replace, buf, count, type, dest, sendtag, source, recvtag,
                           comm, request);
}

TAUT_API int taut_dropin_MPI_Isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype type, int dest,
                                                 int sendtag, int source, int recvtag, MPI_Comm comm,
                                                 MPI_Request* request) {
  const auto one = [&](Wrapped function, auto n) {
    return isendrecv_replace(function, buf, n, type, dest, sendtag, source, recvtag, comm, request);
  };
  return by_large(Wrapped::MPI_Isendrecv_replace_c, Wrapped::MPI_Isendrecv_replace, comm, one, count);
}

}  // extern "C"

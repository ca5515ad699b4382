// Nonblocking calls that send and receive. The values that they send are not coded. The generated wrappers
// call the function templates, whose `function` takes counts of type Count.
#pragma once

#include "dropin/detached_sends.hpp"
#include "dropin/large_counts.hpp"
#include "dropin/messages.hpp"
#include "p2p/request_table.hpp"

namespace taut::dropin {

// Starts the send and the receive of one call. `start(&request)` makes one request for both. If MPI lacks the
// call, or if the message to be received may have been probed for, the program's request is that of the
// receive, and the values are sent from memory owned by Taut.
template <class Start>
int send_and_receive(Wrapped function, const p2p::RecvBuffer& sent, int dest, int sendtag,
                     const p2p::MatchKey& key, const p2p::RecvBuffer& at, MPI_Request* request,
                     Start start) noexcept {
  p2p::PostedReceive posted;
  int code = MPI_SUCCESS;
  if (has(function) && !p2p::may_be_probed()) {
    code = start(&posted.request);
  } else {
    code = api::guard(key.comm, [&] { return send_detached(sent, dest, sendtag); });
    if (code == MPI_SUCCESS) code = p2p::post(key, at, posted);
  }
  if (code == MPI_SUCCESS) p2p::hand_over(std::move(posted), at, request);
  return code;
}

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
  const p2p::RecvBuffer values = here(buf, count, type, comm);
  const auto start = [&](MPI_Request* made) {
    return call_next(function, buf, count, type, dest, sendtag, source, recvtag, comm, made);
  };
  return send_and_receive(function, values, dest, sendtag, {source, recvtag, comm}, values, request, start);
}

}  // namespace taut::dropin

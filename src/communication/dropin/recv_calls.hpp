// Calls that receive messages, or send and receive (docs/adr/0014). The generated wrappers call the function
// templates that have the names of MPI's functions; `function` takes counts of type Count.
#pragma once

#include "communication/dropin/generalized_requests.hpp"
#include "communication/dropin/large_counts.hpp"
#include "communication/dropin/send_calls.hpp"
#include "communication/mpi/pmpi_counts.hpp"
#include "communication/p2p/request_table.hpp"

namespace taut::dropin {

// Returns the arguments of a call of the program, with its endpoint.
inline p2p::MpiMessage of_program(const void* buf, MPI_Count count, MPI_Datatype type, int peer, int tag,
                                  MPI_Comm comm) noexcept {
  return {buf, count, type, peer, tag, comm, nullptr, p2p::program_endpoint()};
}

// Runs `call(&status)`, which receives one message into `recv`, and finishes a coded message.
template <class Call>
int receiving(const p2p::MpiMessage& recv, MPI_Status* status, Call call) {
  if (!p2p::may_be_coded(recv)) return call(status);
  p2p::ReadableStatus readable(status);
  const int code = call(&*readable);
  return code == MPI_SUCCESS ? api::raise(recv.comm, p2p::finish_recv(recv, *readable)) : code;
}

// Receives a message by a nonblocking receive. Runs `meanwhile()` after the receive has begun.
template <class Meanwhile>
int receiving_posted(const p2p::MpiMessage& recv, MPI_Status* status, Meanwhile meanwhile) {
  p2p::PostedReceive posted;
  if (const int begun = p2p::post(recv, posted); begun != MPI_SUCCESS) return begun;
  // On the heap, which outlives a longjmp out of an error handler.
  std::unique_ptr<p2p::OpenReceive> open;
  if (p2p::may_be_segmented(recv))
    open = std::make_unique<p2p::OpenReceive>(recv, posted.detached ? &posted.detached : nullptr,
                                              posted.request);
  const int other = meanwhile();
  if (other != MPI_SUCCESS) PMPI_Cancel(&posted.request);
  for (Backoff backoff; open && !open->ready(); backoff.pause()) progress_calls();
  const auto segmented = open ? open->take_segmented() : nullptr;
  open.reset();
  p2p::ReadableStatus readable(status);
  const int code = PMPI_Wait(&posted.request, &*readable);
  if (other != MPI_SUCCESS || code != MPI_SUCCESS) return other != MPI_SUCCESS ? other : code;
  return api::raise(recv.comm, p2p::finish_recv(recv, posted.detached, segmented.get(), *readable));
}

// Returns true if receiving_posted() has to receive a message, instead of MPI's own call: a probe may have
// taken the message, or the message goes through a bounce buffer. A receive from MPI_PROC_NULL is left to
// MPI's own call.
inline bool must_be_posted(const p2p::MpiMessage& recv) {
  return recv.peer != MPI_PROC_NULL && (p2p::may_be_probed() || p2p::bounce_device(recv) != nullptr);
}

inline int nothing_else() noexcept { return MPI_SUCCESS; }

// Lets MPI check the destination of a call that also receives, before a receive is posted that the program
// would not know of: an error handler may not return. Returns an MPI error code, raised by MPI.
inline int check_destination(int dest, int sendtag, MPI_Comm comm) {
  if (dest == MPI_ANY_SOURCE || sendtag == MPI_ANY_TAG)  // are right in a probe only
    return TAUT_PMPI(Send)(nullptr, 0, MPI_BYTE, dest, sendtag, comm);
  int there = 0;
  return p2p::check_key({dest, sendtag, comm}, &there);
}

// ---- Blocking and persistent receives

template <class Count>
int recv(Wrapped function, void* buf, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status* status) {
  const p2p::MpiMessage recv = of_program(buf, count, type, source, tag, comm);
  if (must_be_posted(recv)) return receiving_posted(recv, status, nothing_else);
  return receiving(recv, status, [&](MPI_Status* mpi_status) {
    return call_next(function, buf, count, type, source, tag, comm, mpi_status);
  });
}

template <class Count>
int irecv(Wrapped function, void* buf, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
          MPI_Request* request) {
  const p2p::MpiMessage recv = of_program(buf, count, type, source, tag, comm);
  p2p::PostedReceive posted;
  const int code = p2p::post(recv, posted, [&](MPI_Request* made) {
    return call_next(function, buf, count, type, source, tag, comm, made);
  });
  if (code == MPI_SUCCESS) p2p::hand_over(std::move(posted), recv, request);
  return code;
}

// Tracks a persistent receive, since each of its starts may find a message that was probed for.
template <class Count>
int recv_init(Wrapped function, void* buf, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const int code = call_next(function, buf, count, type, source, tag, comm, request);
  if (code == MPI_SUCCESS && p2p::program_endpoint() != nullptr)
    p2p::track_persistent(*request, of_program(buf, count, type, source, tag, comm));
  return code;
}

template <class Count>
int sendrecv(Wrapped function, const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest,
             int sendtag, void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status, const void* site) {
  const p2p::MpiMessage recv = of_program(recvbuf, recvcount, recvtype, source, recvtag, comm);
  p2p::Send send = send_of_program({sendbuf, sendcount, sendtype, dest, sendtag, comm, site});
  int code = MPI_SUCCESS;
  if (send.in_segments() || must_be_posted(recv)) {
    code = check_destination(dest, sendtag, comm);
    const auto meanwhile = [&] { return send.send(TAUT_PMPI(Send), progress_calls); };
    if (code == MPI_SUCCESS) code = receiving_posted(recv, status, meanwhile);
  } else {
    const p2p::MpiMessage sent = send.arguments();
    code = receiving(recv, status, [&](MPI_Status* mpi_status) {
      return call_next(function, sent.buf, static_cast<Count>(sent.count), sent.type, dest, sendtag, recvbuf,
                       recvcount, recvtype, source, recvtag, comm, mpi_status);
    });
  }
  count_sent(send);
  return code;
}

// Serves MPI_Sendrecv_replace. The values that it sends are not coded.
template <class Count>
int sendrecv_replace(Wrapped function, void* buf, Count count, MPI_Datatype type, int dest, int sendtag,
                     int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  const p2p::MpiMessage recv = of_program(buf, count, type, source, recvtag, comm);
  if (!must_be_posted(recv))
    return receiving(recv, status, [&](MPI_Status* mpi_status) {
      return call_next(function, buf, count, type, dest, sendtag, source, recvtag, comm, mpi_status);
    });
  if (const int code = check_destination(dest, sendtag, comm); code != MPI_SUCCESS) return code;
  return api::guard(comm, [&]() -> int {
    const std::vector<std::byte> sent = p2p::packed(recv);
    if (!api::pmpi::fits(static_cast<MPI_Count>(sent.size())))
      throw Error(Status::invalid_count, "a count that needs MPI 4");
    return receiving_posted(recv, status, [&] {
      return TAUT_PMPI(Send)(sent.data(), static_cast<api::pmpi::Count>(sent.size()), MPI_PACKED, dest,
                             sendtag, comm);
    });
  });
}

// ---- Nonblocking calls that send and receive. The values that they send are not coded.

// Starts the send and the receive of one call. `start(&request)` makes one request for both. If MPI lacks the
// call, or if the message to be received may have been probed for, the program's request is that of the
// receive, and the values are sent from memory owned by Taut.
template <class Start>
int send_and_receive(Wrapped function, const p2p::MpiMessage& sent, const p2p::MpiMessage& recv,
                     MPI_Request* request, Start start) {
  p2p::PostedReceive posted;
  int code = MPI_SUCCESS;
  if (has(function) && !p2p::may_be_probed()) {
    code = start(&posted.request);
  } else {
    code = api::guard(recv.comm, [&] { return p2p::send_detached(sent); });
    if (code == MPI_SUCCESS) code = p2p::post(recv, posted);
  }
  if (code == MPI_SUCCESS) p2p::hand_over(std::move(posted), recv, request);
  return code;
}

template <class Count>
int isendrecv(Wrapped function, const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest,
              int sendtag, void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
              MPI_Comm comm, MPI_Request* request) {
  const auto start = [&](MPI_Request* made) {
    return call_next(function, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                     source, recvtag, comm, made);
  };
  return send_and_receive(function, of_program(sendbuf, sendcount, sendtype, dest, sendtag, comm),
                          of_program(recvbuf, recvcount, recvtype, source, recvtag, comm), request, start);
}

template <class Count>
int isendrecv_replace(Wrapped function, void* buf, Count count, MPI_Datatype type, int dest, int sendtag,
                      int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  const auto start = [&](MPI_Request* made) {
    return call_next(function, buf, count, type, dest, sendtag, source, recvtag, comm, made);
  };
  return send_and_receive(function, of_program(buf, count, type, dest, sendtag, comm),
                          of_program(buf, count, type, source, recvtag, comm), request, start);
}

// ---- Receives of messages that a probe took (docs/adr/0015)

template <class Count>
int mrecv(Wrapped function, void* buf, Count count, MPI_Datatype type, MPI_Message* message,
          MPI_Status* status) {
  const auto receive = [&](MPI_Status* mpi_status) {
    return call_next(function, buf, count, type, message, mpi_status);
  };
  auto taken = p2p::receive_taken(message);
  if (!taken) return receive(status);
  const p2p::MpiMessage recv = of_program(buf, count, type, MPI_ANY_SOURCE, MPI_ANY_TAG, taken->comm);
  if (taken->is_of_mpi()) return receiving(recv, status, receive);
  p2p::ReadableStatus readable(status);
  const int code = PMPI_Wait(&taken->posted.request, &*readable);
  return code != MPI_SUCCESS ? code
                             : api::raise(recv.comm, p2p::deliver(taken->posted.detached, recv, *readable));
}

template <class Count>
int imrecv(Wrapped function, void* buf, Count count, MPI_Datatype type, MPI_Message* message,
           MPI_Request* request) {
  auto taken = p2p::receive_taken(message);
  int code = MPI_SUCCESS;
  if (!taken || taken->is_of_mpi())
    code = call_next(function, buf, count, type, message, taken ? &taken->posted.request : request);
  if (code == MPI_SUCCESS && taken)
    p2p::hand_over(std::move(taken->posted),
                   of_program(buf, count, type, MPI_ANY_SOURCE, MPI_ANY_TAG, taken->comm), request);
  return code;
}

}  // namespace taut::dropin

// Calls that receive messages, or send and receive (docs/adr/0020), with int and large counts.
#include <taut/taut.h>

#include "api/args/pmpi_counts.hpp"
#include "dropin/generalized_requests.hpp"
#include "dropin/large_counts.hpp"
#include "dropin/messages.hpp"
#include "p2p/open_receive.hpp"
#include "p2p/request_table.hpp"

using namespace taut::dropin;
using namespace taut::p2p;
namespace pmpi = taut::api::pmpi;

namespace {

// Runs `call(&status)`, which receives one message into `at`, and finishes a coded message.
template <class Call>
int receiving(const RecvBuffer& at, MPI_Status* status, Call call) noexcept {
  if (!may_be_coded(at)) return call(status);
  ReadableStatus readable(status);
  const int code = call(&*readable);
  return code == MPI_SUCCESS ? finish_recv(at, *readable) : code;
}

// Receives a message by a nonblocking receive. Runs `meanwhile()` after the receive has begun.
template <class Meanwhile>
int receiving_posted(const MatchKey& key, const RecvBuffer& at, MPI_Status* status,
                     Meanwhile meanwhile) noexcept {
  PostedReceive posted;
  if (const int begun = post(key, at, posted); begun != MPI_SUCCESS) return begun;
  std::optional<OpenReceive> open;
  if (may_be_segmented(at)) open.emplace(at, posted.detached ? &posted.detached : nullptr, posted.request);
  const int other = meanwhile();
  if (other != MPI_SUCCESS) PMPI_Cancel(&posted.request);
  for (taut::Backoff backoff; open && !open->ready(); backoff.pause()) progress_calls();
  ReadableStatus readable(status);
  const int code = PMPI_Wait(&posted.request, &*readable);
  if (other != MPI_SUCCESS || code != MPI_SUCCESS) return other != MPI_SUCCESS ? other : code;
  if (open && open->message() != nullptr) return open->message()->finish(at.comm, *readable);
  return posted.detached ? deliver(posted.detached, at, *readable) : finish_recv(at, *readable);
}

// Returns true if MPI's own call does not receive a message from `source`: it may have been probed for, or it
// goes through a bounce buffer. A receive from MPI_PROC_NULL is left to MPI's own call.
bool is_posted(int source, const RecvBuffer& at) noexcept {
  return source != MPI_PROC_NULL && (may_be_probed() || bounce_device(at) != nullptr);
}

int nothing_else() noexcept { return MPI_SUCCESS; }

// ---- The calls; `function` takes counts of type Count

template <class Count>
int recv(Wrapped function, void* buf, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status* status) noexcept {
  const RecvBuffer at = here(buf, count, type, comm);
  if (is_posted(source, at)) return receiving_posted({source, tag, comm}, at, status, nothing_else);
  return receiving(at, status, [&](MPI_Status* mpi_status) {
    return call_next(function, buf, count, type, source, tag, comm, mpi_status);
  });
}

template <class Count>
int irecv(Wrapped function, void* buf, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
          MPI_Request* request) noexcept {
  const RecvBuffer at = here(buf, count, type, comm);
  PostedReceive posted;
  const int code = post({source, tag, comm}, at, posted, [&](MPI_Request* made) {
    return call_next(function, buf, count, type, source, tag, comm, made);
  });
  if (code == MPI_SUCCESS) hand_over(std::move(posted), at, request);
  return code;
}

// Tracks a persistent receive, since each of its starts may find a message that was probed for.
template <class Count>
int recv_init(Wrapped function, void* buf, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request) noexcept {
  const int code = call_next(function, buf, count, type, source, tag, comm, request);
  if (code == MPI_SUCCESS && program_endpoint() != nullptr)
    track_persistent(*request, PersistentRecv{here(buf, count, type, comm), {source, tag, comm}});
  return code;
}

template <class Count>
int sendrecv(Wrapped function, const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest,
             int sendtag, void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status) noexcept {
  const RecvBuffer at = here(recvbuf, recvcount, recvtype, comm);
  ProgramSend sending({sendbuf, sendcount, sendtype, dest, sendtag, comm});
  const SendBuffer sent = sending.buffer();
  if (sending.in_segments() || is_posted(source, at))
    return receiving_posted({source, recvtag, comm}, at, status, [&] {
      if (sending.in_segments()) return sending.send(nullptr);
      return TAUT_PMPI(Send)(sent.at, sent.count, sent.type, dest, sendtag, comm);
    });
  return receiving(at, status, [&](MPI_Status* mpi_status) {
    return call_next(function, sent.at, static_cast<Count>(sent.count), sent.type, dest, sendtag, recvbuf,
                     recvcount, recvtype, source, recvtag, comm, mpi_status);
  });
}

// Serves MPI_Sendrecv_replace. The values that it sends are not coded.
template <class Count>
int replace(Wrapped function, void* buf, Count count, MPI_Datatype type, int dest, int sendtag, int source,
            int recvtag, MPI_Comm comm, MPI_Status* status) noexcept {
  const RecvBuffer at = here(buf, count, type, comm);
  if (!is_posted(source, at))
    return receiving(at, status, [&](MPI_Status* mpi_status) {
      return call_next(function, buf, count, type, dest, sendtag, source, recvtag, comm, mpi_status);
    });
  return taut::api::guard(comm, [&]() -> int {
    const std::vector<std::byte> sent = packed(at);
    if (!pmpi::fits(static_cast<MPI_Count>(sent.size())))
      throw taut::Error(taut::Status::invalid_count, "a count that needs MPI 4");
    return receiving_posted({source, recvtag, comm}, at, status, [&] {
      return TAUT_PMPI(Send)(sent.data(), static_cast<pmpi::Count>(sent.size()), MPI_PACKED, dest, sendtag,
                             comm);
    });
  });
}

}  // namespace

extern "C" {

TAUT_API int taut_dropin_MPI_Recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                  MPI_Status* status) {
  return recv(Wrapped::MPI_Recv, buf, count, type, source, tag, comm, status);
}

TAUT_API int taut_dropin_MPI_Recv_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                                    MPI_Comm comm, MPI_Status* status) {
  const auto one = [&](Wrapped function, auto n) {
    return recv(function, buf, n, type, source, tag, comm, status);
  };
  return by_large(Wrapped::MPI_Recv_c, Wrapped::MPI_Recv, comm, one, count);
}

TAUT_API int taut_dropin_MPI_Irecv(void* buf, int count, MPI_Datatype type, int source, int tag,
                                   MPI_Comm comm, MPI_Request* request) {
  return irecv(Wrapped::MPI_Irecv, buf, count, type, source, tag, comm, request);
}

TAUT_API int taut_dropin_MPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                                     MPI_Comm comm, MPI_Request* request) {
  const auto one = [&](Wrapped function, auto n) {
    return irecv(function, buf, n, type, source, tag, comm, request);
  };
  return by_large(Wrapped::MPI_Irecv_c, Wrapped::MPI_Irecv, comm, one, count);
}

TAUT_API int taut_dropin_MPI_Recv_init(void* buf, int count, MPI_Datatype type, int source, int tag,
                                       MPI_Comm comm, MPI_Request* request) {
  return recv_init(Wrapped::MPI_Recv_init, buf, count, type, source, tag, comm, request);
}

TAUT_API int taut_dropin_MPI_Recv_init_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                                         MPI_Comm comm, MPI_Request* request) {
  const auto one = [&](Wrapped function, auto n) {
    return recv_init(function, buf, n, type, source, tag, comm, request);
  };
  return by_large(Wrapped::MPI_Recv_init_c, Wrapped::MPI_Recv_init, comm, one, count);
}

TAUT_API int taut_dropin_MPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                                      int sendtag, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                      int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  return sendrecv(Wrapped::MPI_Sendrecv, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                  recvtype, source, recvtag, comm, status);
}

TAUT_API int taut_dropin_MPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                        int dest, int sendtag, void* recvbuf, MPI_Count recvcount,
                                        MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                                        MPI_Status* status) {
  const auto one = [&](Wrapped function, auto n, auto m) {
    return sendrecv(function, sendbuf, n, sendtype, dest, sendtag, recvbuf, m, recvtype, source, recvtag,
                    comm, status);
  };
  return by_large(Wrapped::MPI_Sendrecv_c, Wrapped::MPI_Sendrecv, comm, one, sendcount, recvcount);
}

TAUT_API int taut_dropin_MPI_Sendrecv_replace(void* buf, int count, MPI_Datatype type, int dest, int sendtag,
                                              int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  return replace(Wrapped::MPI_Sendrecv_replace, buf, count, type, dest, sendtag, source, recvtag, comm,
                 status);
}

TAUT_API int taut_dropin_MPI_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype type, int dest,
                                                int sendtag, int source, int recvtag, MPI_Comm comm,
                                                MPI_Status* status) {
  const auto one = [&](Wrapped function, auto n) {
    return replace(function, buf, n, type, dest, sendtag, source, recvtag, comm, status);
  };
  return by_large(Wrapped::MPI_Sendrecv_replace_c, Wrapped::MPI_Sendrecv_replace, comm, one, count);
}

}  // extern "C"

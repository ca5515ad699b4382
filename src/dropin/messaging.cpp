// The calls that receive messages, or send and receive (docs/adr/0014), int and large counts alike.
#include <taut/taut.h>

#include "api/plain.hpp"
#include "dropin/by_large.hpp"
#include "dropin/messages.hpp"
#include "dropin/watched.hpp"

using namespace taut::dropin;
namespace plain = taut::api::plain;

namespace {

// Runs `call(&status)`, which receives one message there.
template <class Call>
int receiving(const Expected& expected, MPI_Status* status, Call call) noexcept {
  if (!may_be_coded(expected)) return call(status);
  StatusAt came(status);
  const int code = call(&*came);
  return code == MPI_SUCCESS ? settle(expected, *came) : code;
}

// The same where messages may be held; `meanwhile()` is made after the receive has begun.
template <class Meanwhile>
int receiving_held(const Wanted& wanted, const Expected& expected, MPI_Status* status,
                   Meanwhile meanwhile) noexcept {
  Posted posted;
  if (const int begun = post(wanted, expected, posted); begun != MPI_SUCCESS) return begun;
  const int other = meanwhile();
  if (other != MPI_SUCCESS) PMPI_Cancel(&posted.request);
  StatusAt came(status);
  const int code = PMPI_Wait(&posted.request, &*came);
  if (other != MPI_SUCCESS || code != MPI_SUCCESS) return other != MPI_SUCCESS ? other : code;
  return posted.apart ? deliver(posted.apart, expected, *came) : settle(expected, *came);
}

// From MPI_PROC_NULL nothing comes, and MPI's own call knows best how it ends.
bool may_be_held_from(int source) noexcept { return source != MPI_PROC_NULL && may_be_held(); }

int nothing_else() noexcept { return MPI_SUCCESS; }

// ---- The calls; `function` takes counts of this type

template <class Count>
int recv(Wrapped function, void* buf, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status* status) noexcept {
  const Expected expected{buf, count, type, comm};
  if (may_be_held_from(source)) return receiving_held({source, tag, comm}, expected, status, nothing_else);
  return receiving(expected, status, [&](MPI_Status* at) {
    return call_next(function, buf, count, type, source, tag, comm, at);
  });
}

template <class Count>
int irecv(Wrapped function, void* buf, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
          MPI_Request* request) noexcept {
  const Expected expected{buf, count, type, comm};
  Posted posted;
  const int code = post({source, tag, comm}, expected, posted, [&](MPI_Request* made) {
    return call_next(function, buf, count, type, source, tag, comm, made);
  });
  if (code == MPI_SUCCESS) hand_over(std::move(posted), expected, request);
  return code;
}

// Each start of it may find a message that is held.
template <class Count>
int recv_init(Wrapped function, void* buf, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request) noexcept {
  const int code = call_next(function, buf, count, type, source, tag, comm, request);
  if (code == MPI_SUCCESS && messages_may_be_coded())
    expect_each(*request, {{buf, count, type, comm}, {source, tag, comm}});
  return code;
}

template <class Count>
int sendrecv(Wrapped function, const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest,
             int sendtag, void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status) noexcept {
  const Expected expected{recvbuf, recvcount, recvtype, comm};
  const CodedMessage message = coded({sendbuf, sendcount, sendtype, dest, sendtag, comm});
  const void* const sent = message ? message.memory.get() : sendbuf;
  const Count n = message ? static_cast<Count>(units(message, sendtype)) : sendcount;
  if (may_be_held_from(source))
    return receiving_held({source, recvtag, comm}, expected, status, [&] {
      return TAUT_PMPI(Send)(sent, static_cast<plain::Count>(n), sendtype, dest, sendtag, comm);
    });
  return receiving(expected, status, [&](MPI_Status* at) {
    return call_next(function, sent, n, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                     recvtag, comm, at);
  });
}

// What it sends is plain.
template <class Count>
int replace(Wrapped function, void* buf, Count count, MPI_Datatype type, int dest, int sendtag, int source,
            int recvtag, MPI_Comm comm, MPI_Status* status) noexcept {
  const Expected expected{buf, count, type, comm};
  if (!may_be_held_from(source))
    return receiving(expected, status, [&](MPI_Status* at) {
      return call_next(function, buf, count, type, dest, sendtag, source, recvtag, comm, at);
    });
  return taut::api::guard(comm, [&]() -> int {
    const std::vector<std::byte> sent = packed(expected);
    if (!plain::fits(static_cast<MPI_Count>(sent.size())))
      throw taut::Error(taut::Status::invalid_count, "a count that needs MPI 4");
    return receiving_held({source, recvtag, comm}, expected, status, [&] {
      return TAUT_PMPI(Send)(sent.data(), static_cast<plain::Count>(sent.size()), MPI_PACKED, dest, sendtag,
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

// The calls of messages (docs/adr/0014), int and large counts alike.
#include <taut/taut.h>

#include <cstdio>

#include "api/errors.hpp"
#include "api/plain.hpp"
#include "dropin/arriving.hpp"
#include "dropin/messages.hpp"
#include "dropin/narrowed.hpp"
#include "dropin/next.hpp"

using namespace taut::dropin;
namespace plain = taut::api::plain;

namespace {

bool has(Wrapped function) noexcept { return next_as<void*>(function) != nullptr; }

// Makes `one(function, counts)`, with ints where the MPI has no large counts.
template <class One, class... Counts>
int by_large(Wrapped large, Wrapped function, MPI_Comm comm, One one, Counts... counts) noexcept {
  if (has(large)) return one(large, counts...);
  return taut::api::guard(comm, [&] { return one(function, narrowed(counts)...); });
}

plain::Count units(const CodedMessage& message, MPI_Datatype type) noexcept {
  int size = 1;
  PMPI_Type_size(type, &size);
  return static_cast<plain::Count>(message.bytes / static_cast<std::size_t>(size));
}

// Runs `call(&status)`, which receives one message there.
template <class Call>
int receiving(const Expected& expected, MPI_Status* status, Call call) noexcept {
  if (!may_be_coded(expected)) return call(status);
  MPI_Status own;
  MPI_Status* const came = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = call(came);
  return code == MPI_SUCCESS ? settle(expected, *came) : code;
}

// ---- The calls; `function` takes counts of this type

template <class Count>
int send(Wrapped function, const void* buf, Count count, MPI_Datatype type, int dest, int tag,
         MPI_Comm comm) noexcept {
  if (const CodedMessage message = coded(buf, count, type, dest, tag, comm))
    return TAUT_PMPI(Send)(message.memory.get(), units(message, type), type, dest, tag, comm);
  return call_next(function, buf, count, type, dest, tag, comm);
}

template <class Count>
int isend(Wrapped function, const void* buf, Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
          MPI_Request* request) noexcept {
  CodedMessage message = coded(buf, count, type, dest, tag, comm);
  if (!message) return call_next(function, buf, count, type, dest, tag, comm, request);
  const int code =
      TAUT_PMPI(Isend)(message.memory.get(), units(message, type), type, dest, tag, comm, request);
  if (code == MPI_SUCCESS) keep_until_sent(*request, std::move(message));
  return code;
}

template <class Count>
int recv(Wrapped function, void* buf, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status* status) noexcept {
  return receiving({buf, count, type, comm}, status, [&](MPI_Status* at) {
    return call_next(function, buf, count, type, source, tag, comm, at);
  });
}

// MPI_Irecv, or MPI_Recv_init: `persistent`.
template <class Count>
int expect_one(Wrapped function, void* buf, Count count, MPI_Datatype type, int source, int tag,
               MPI_Comm comm, MPI_Request* request, bool persistent) noexcept {
  const int code = call_next(function, buf, count, type, source, tag, comm, request);
  const Expected expected{buf, count, type, comm};
  if (code == MPI_SUCCESS && may_be_coded(expected)) expect(*request, expected, persistent);
  return code;
}

template <class Count>
int sendrecv(Wrapped function, const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest,
             int sendtag, void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status) noexcept {
  const CodedMessage message = coded(sendbuf, sendcount, sendtype, dest, sendtag, comm);
  const void* const sent = message ? message.memory.get() : sendbuf;
  const Count n = message ? static_cast<Count>(units(message, sendtype)) : sendcount;
  return receiving({recvbuf, recvcount, recvtype, comm}, status, [&](MPI_Status* at) {
    return call_next(function, sent, n, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                     recvtag, comm, at);
  });
}

// What it sends is plain.
template <class Count>
int replace(Wrapped function, void* buf, Count count, MPI_Datatype type, int dest, int sendtag, int source,
            int recvtag, MPI_Comm comm, MPI_Status* status) noexcept {
  return receiving({buf, count, type, comm}, status, [&](MPI_Status* at) {
    return call_next(function, buf, count, type, dest, sendtag, source, recvtag, comm, at);
  });
}

// A library in C that probes, and was loaded after MPI_Init, cannot be told how long a coded message is.
void stop_if_coded(const char* function) noexcept {
  if (!messages_may_be_coded()) return;
  std::fprintf(stderr, "taut: %s is called by what was loaded after MPI_Init; unset TAUT_MESSAGES\n",
               function);
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace

extern "C" {

// ---- Sending

TAUT_API int taut_dropin_MPI_Send(const void* buf, int count, MPI_Datatype type, int dest, int tag,
                                  MPI_Comm comm) {
  return send(Wrapped::MPI_Send, buf, count, type, dest, tag, comm);
}

TAUT_API int taut_dropin_MPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                                    MPI_Comm comm) {
  const auto one = [&](Wrapped function, auto n) { return send(function, buf, n, type, dest, tag, comm); };
  return by_large(Wrapped::MPI_Send_c, Wrapped::MPI_Send, comm, one, count);
}

TAUT_API int taut_dropin_MPI_Isend(const void* buf, int count, MPI_Datatype type, int dest, int tag,
                                   MPI_Comm comm, MPI_Request* request) {
  return isend(Wrapped::MPI_Isend, buf, count, type, dest, tag, comm, request);
}

TAUT_API int taut_dropin_MPI_Isend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                                     MPI_Comm comm, MPI_Request* request) {
  const auto one = [&](Wrapped function, auto n) {
    return isend(function, buf, n, type, dest, tag, comm, request);
  };
  return by_large(Wrapped::MPI_Isend_c, Wrapped::MPI_Isend, comm, one, count);
}

// ---- Receiving

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
  return expect_one(Wrapped::MPI_Irecv, buf, count, type, source, tag, comm, request, false);
}

TAUT_API int taut_dropin_MPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                                     MPI_Comm comm, MPI_Request* request) {
  const auto one = [&](Wrapped function, auto n) {
    return expect_one(function, buf, n, type, source, tag, comm, request, false);
  };
  return by_large(Wrapped::MPI_Irecv_c, Wrapped::MPI_Irecv, comm, one, count);
}

TAUT_API int taut_dropin_MPI_Recv_init(void* buf, int count, MPI_Datatype type, int source, int tag,
                                       MPI_Comm comm, MPI_Request* request) {
  return expect_one(Wrapped::MPI_Recv_init, buf, count, type, source, tag, comm, request, true);
}

TAUT_API int taut_dropin_MPI_Recv_init_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                                         MPI_Comm comm, MPI_Request* request) {
  const auto one = [&](Wrapped function, auto n) {
    return expect_one(function, buf, n, type, source, tag, comm, request, true);
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

TAUT_API int taut_dropin_MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  Completion completion({&request, 1});
  if (!completion.matters()) return call_next(Wrapped::MPI_Request_get_status, request, flag, status);
  MPI_Status own;
  MPI_Status* const at = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = call_next(Wrapped::MPI_Request_get_status, request, flag, at);
  return code == MPI_SUCCESS && *flag != 0 ? completion.look(0, *at) : code;
}

// ---- Probing

TAUT_API int taut_dropin_MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  stop_if_coded("MPI_Probe");
  return call_next(Wrapped::MPI_Probe, source, tag, comm, status);
}

TAUT_API int taut_dropin_MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  stop_if_coded("MPI_Iprobe");
  return call_next(Wrapped::MPI_Iprobe, source, tag, comm, flag, status);
}

TAUT_API int taut_dropin_MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message,
                                    MPI_Status* status) {
  stop_if_coded("MPI_Mprobe");
  return call_next(Wrapped::MPI_Mprobe, source, tag, comm, message, status);
}

TAUT_API int taut_dropin_MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                                     MPI_Status* status) {
  stop_if_coded("MPI_Improbe");
  return call_next(Wrapped::MPI_Improbe, source, tag, comm, flag, message, status);
}

}  // extern "C"

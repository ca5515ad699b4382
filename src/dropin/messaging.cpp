// The calls of messages (docs/adr/0014), int and large counts alike.
#include <taut/taut.h>

#include <cstdio>
#include <cstdlib>

#include "api/errors.hpp"
#include "api/plain.hpp"
#include "dropin/arriving.hpp"
#include "dropin/messages.hpp"
#include "dropin/narrowed.hpp"
#include "dropin/next.hpp"

using namespace taut::dropin;
namespace plain = taut::api::plain;

namespace {

template <class... Arguments>
int call(Wrapped function, Arguments... arguments) noexcept {
  return next_as<int (*)(Arguments...)>(function)(arguments...);
}

bool has(Wrapped function) noexcept { return next_as<void*>(function) != nullptr; }

// What an MPI without large counts makes of them.
template <class Narrow>
int narrow(MPI_Comm comm, Narrow call) noexcept {
  return taut::api::guard(comm, call);
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

int expecting(int code, const Expected& expected, const MPI_Request* request, bool persistent) noexcept {
  if (code == MPI_SUCCESS && may_be_coded(expected)) expect(*request, expected, persistent);
  return code;
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
  if (const CodedMessage message = coded(buf, count, type, dest, tag, comm))
    return TAUT_PMPI(Send)(message.memory.get(), units(message, type), type, dest, tag, comm);
  return call(Wrapped::MPI_Send, buf, count, type, dest, tag, comm);
}

TAUT_API int taut_dropin_MPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                                    MPI_Comm comm) {
  if (!has(Wrapped::MPI_Send_c))
    return narrow(comm, [&] { return taut_dropin_MPI_Send(buf, narrowed(count), type, dest, tag, comm); });
  if (const CodedMessage message = coded(buf, count, type, dest, tag, comm))
    return TAUT_PMPI(Send)(message.memory.get(), units(message, type), type, dest, tag, comm);
  return call(Wrapped::MPI_Send_c, buf, count, type, dest, tag, comm);
}

TAUT_API int taut_dropin_MPI_Isend(const void* buf, int count, MPI_Datatype type, int dest, int tag,
                                   MPI_Comm comm, MPI_Request* request) {
  CodedMessage message = coded(buf, count, type, dest, tag, comm);
  if (!message) return call(Wrapped::MPI_Isend, buf, count, type, dest, tag, comm, request);
  const int code =
      TAUT_PMPI(Isend)(message.memory.get(), units(message, type), type, dest, tag, comm, request);
  if (code == MPI_SUCCESS) keep_until_sent(*request, std::move(message));
  return code;
}

TAUT_API int taut_dropin_MPI_Isend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                                     MPI_Comm comm, MPI_Request* request) {
  if (!has(Wrapped::MPI_Isend_c))
    return narrow(
        comm, [&] { return taut_dropin_MPI_Isend(buf, narrowed(count), type, dest, tag, comm, request); });
  CodedMessage message = coded(buf, count, type, dest, tag, comm);
  if (!message) return call(Wrapped::MPI_Isend_c, buf, count, type, dest, tag, comm, request);
  const int code =
      TAUT_PMPI(Isend)(message.memory.get(), units(message, type), type, dest, tag, comm, request);
  if (code == MPI_SUCCESS) keep_until_sent(*request, std::move(message));
  return code;
}

// ---- Receiving

TAUT_API int taut_dropin_MPI_Recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                  MPI_Status* status) {
  return receiving({buf, count, type, comm}, status, [&](MPI_Status* at) {
    return call(Wrapped::MPI_Recv, buf, count, type, source, tag, comm, at);
  });
}

TAUT_API int taut_dropin_MPI_Recv_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                                    MPI_Comm comm, MPI_Status* status) {
  if (!has(Wrapped::MPI_Recv_c))
    return narrow(
        comm, [&] { return taut_dropin_MPI_Recv(buf, narrowed(count), type, source, tag, comm, status); });
  return receiving({buf, count, type, comm}, status, [&](MPI_Status* at) {
    return call(Wrapped::MPI_Recv_c, buf, count, type, source, tag, comm, at);
  });
}

TAUT_API int taut_dropin_MPI_Irecv(void* buf, int count, MPI_Datatype type, int source, int tag,
                                   MPI_Comm comm, MPI_Request* request) {
  const int code = call(Wrapped::MPI_Irecv, buf, count, type, source, tag, comm, request);
  return expecting(code, {buf, count, type, comm}, request, false);
}

TAUT_API int taut_dropin_MPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                                     MPI_Comm comm, MPI_Request* request) {
  if (!has(Wrapped::MPI_Irecv_c))
    return narrow(
        comm, [&] { return taut_dropin_MPI_Irecv(buf, narrowed(count), type, source, tag, comm, request); });
  const int code = call(Wrapped::MPI_Irecv_c, buf, count, type, source, tag, comm, request);
  return expecting(code, {buf, count, type, comm}, request, false);
}

TAUT_API int taut_dropin_MPI_Recv_init(void* buf, int count, MPI_Datatype type, int source, int tag,
                                       MPI_Comm comm, MPI_Request* request) {
  const int code = call(Wrapped::MPI_Recv_init, buf, count, type, source, tag, comm, request);
  return expecting(code, {buf, count, type, comm}, request, true);
}

TAUT_API int taut_dropin_MPI_Recv_init_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                                         MPI_Comm comm, MPI_Request* request) {
  if (!has(Wrapped::MPI_Recv_init_c))
    return narrow(comm, [&] {
      return taut_dropin_MPI_Recv_init(buf, narrowed(count), type, source, tag, comm, request);
    });
  const int code = call(Wrapped::MPI_Recv_init_c, buf, count, type, source, tag, comm, request);
  return expecting(code, {buf, count, type, comm}, request, true);
}

TAUT_API int taut_dropin_MPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                                      int sendtag, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                      int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  const CodedMessage message = coded(sendbuf, sendcount, sendtype, dest, sendtag, comm);
  const void* const sent = message ? message.memory.get() : sendbuf;
  const auto n = message ? static_cast<int>(units(message, sendtype)) : sendcount;
  return receiving({recvbuf, recvcount, recvtype, comm}, status, [&](MPI_Status* at) {
    return call(Wrapped::MPI_Sendrecv, sent, n, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                recvtag, comm, at);
  });
}

TAUT_API int taut_dropin_MPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                        int dest, int sendtag, void* recvbuf, MPI_Count recvcount,
                                        MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                                        MPI_Status* status) {
  if (!has(Wrapped::MPI_Sendrecv_c))
    return narrow(comm, [&] {
      return taut_dropin_MPI_Sendrecv(sendbuf, narrowed(sendcount), sendtype, dest, sendtag, recvbuf,
                                      narrowed(recvcount), recvtype, source, recvtag, comm, status);
    });
  const CodedMessage message = coded(sendbuf, sendcount, sendtype, dest, sendtag, comm);
  const void* const sent = message ? message.memory.get() : sendbuf;
  const auto n = message ? static_cast<MPI_Count>(units(message, sendtype)) : sendcount;
  return receiving({recvbuf, recvcount, recvtype, comm}, status, [&](MPI_Status* at) {
    return call(Wrapped::MPI_Sendrecv_c, sent, n, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                source, recvtag, comm, at);
  });
}

// What these send is plain.
TAUT_API int taut_dropin_MPI_Sendrecv_replace(void* buf, int count, MPI_Datatype type, int dest, int sendtag,
                                              int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  return receiving({buf, count, type, comm}, status, [&](MPI_Status* at) {
    return call(Wrapped::MPI_Sendrecv_replace, buf, count, type, dest, sendtag, source, recvtag, comm, at);
  });
}

TAUT_API int taut_dropin_MPI_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype type, int dest,
                                                int sendtag, int source, int recvtag, MPI_Comm comm,
                                                MPI_Status* status) {
  if (!has(Wrapped::MPI_Sendrecv_replace_c))
    return narrow(comm, [&] {
      return taut_dropin_MPI_Sendrecv_replace(buf, narrowed(count), type, dest, sendtag, source, recvtag,
                                              comm, status);
    });
  return receiving({buf, count, type, comm}, status, [&](MPI_Status* at) {
    return call(Wrapped::MPI_Sendrecv_replace_c, buf, count, type, dest, sendtag, source, recvtag, comm, at);
  });
}

TAUT_API int taut_dropin_MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  Completion completion({&request, 1});
  if (!completion.matters()) return call(Wrapped::MPI_Request_get_status, request, flag, status);
  MPI_Status own;
  MPI_Status* const at = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = call(Wrapped::MPI_Request_get_status, request, flag, at);
  return code == MPI_SUCCESS && *flag != 0 ? completion.look(0, *at) : code;
}

// ---- Probing

TAUT_API int taut_dropin_MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  stop_if_coded("MPI_Probe");
  return call(Wrapped::MPI_Probe, source, tag, comm, status);
}

TAUT_API int taut_dropin_MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  stop_if_coded("MPI_Iprobe");
  return call(Wrapped::MPI_Iprobe, source, tag, comm, flag, status);
}

TAUT_API int taut_dropin_MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message,
                                    MPI_Status* status) {
  stop_if_coded("MPI_Mprobe");
  return call(Wrapped::MPI_Mprobe, source, tag, comm, message, status);
}

TAUT_API int taut_dropin_MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                                     MPI_Status* status) {
  stop_if_coded("MPI_Improbe");
  return call(Wrapped::MPI_Improbe, source, tag, comm, flag, message, status);
}

}  // extern "C"

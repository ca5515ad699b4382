// The point-to-point calls of taut.h.
#include <taut/taut.h>

#include "api/all_attached.hpp"
#include "api/errors.hpp"
#include "api/message_requests.hpp"

namespace taut::api {
namespace {

// Inlined, so that it sees where the program called from.
template <class Message, class Arguments>
[[gnu::always_inline]] inline int begin(const Arguments& arguments, TAUT_Request* request) noexcept {
  const void* const site = __builtin_return_address(0);
  return guard(arguments.comm, [&] {
    if (request == nullptr) throw Error(Status::invalid_argument, "a request is NULL");
    *request = TAUT_REQUEST_NULL;
    auto made = std::make_unique<MessageRequest<Message, Arguments>>(arguments, site);
    const int code = made->start();
    if (code == MPI_SUCCESS) *request = made.release();
    return code;
  });
}

// The send of a TAUT_Sendrecv, while the receive is posted: it must not be left so.
int send_or_abandon(OutMessage& sending, InMessage& receiving, MPI_Request& request) {
  int code = MPI_ERR_OTHER;
  try {
    code = sending.send();
  } catch (...) {
    receiving.abandon(request);
    throw;
  }
  if (code != MPI_SUCCESS) receiving.abandon(request);
  return code;
}

int sendrecv(const SendArguments& out, const RecvArguments& in, MPI_Status* status, const void* site) {
  Attached* const attached = find_attached(in.comm);
  OutMessage sending(attached, out, site);
  InMessage receiving(attached, in, site);
  MPI_Request request = MPI_REQUEST_NULL;
  if (const int code = receiving.start(&request); code != MPI_SUCCESS) return code;
  if (const int code = send_or_abandon(sending, receiving, request); code != MPI_SUCCESS) return code;
  MPI_Status came{};
  const int code = wait_for(request, &came);
  if (code == MPI_SUCCESS) return receiving.finish(came, in.comm, status);
  if (status != MPI_STATUS_IGNORE) *status = came;
  return code;
}

// Where MPI's own probe sees what there is to see; null: it does.
Messages* to_probe(MPI_Comm comm, int source) noexcept {
  Attached* const attached = source != MPI_PROC_NULL ? find_attached(comm) : nullptr;
  return attached != nullptr ? attached->messages() : nullptr;
}

int probe(MPI_Comm comm, int source, int tag, bool& found, MPI_Status* status) {
  if (Messages* const messages = to_probe(comm, source))
    return messages->probe(comm, source, tag, found, status);
  int there = 0;
  const int code = PMPI_Iprobe(source, tag, comm, &there, status);
  found = there != 0;
  return code;
}

}  // namespace
}  // namespace taut::api

using namespace taut::api;

extern "C" {

int TAUT_Send(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  const void* const site = __builtin_return_address(0);
  return guard(comm, [&] {
    return OutMessage(find_attached(comm), {buf, count, type, dest, tag, comm}, site).send();
  });
}

int TAUT_Recv(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Status* status) {
  const void* const site = __builtin_return_address(0);
  return guard(comm, [&] {
    return InMessage(find_attached(comm), {buf, count, type, source, tag, comm}, site).receive(status);
  });
}

int TAUT_Sendrecv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  MPI_Comm comm, MPI_Status* status) {
  const void* const site = __builtin_return_address(0);
  return guard(comm, [&] {
    return sendrecv({sendbuf, sendcount, sendtype, dest, sendtag, comm},
                    {recvbuf, recvcount, recvtype, source, recvtag, comm}, status, site);
  });
}

int TAUT_Isend(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               TAUT_Request* request) {
  return begin<OutMessage>(SendArguments{buf, count, type, dest, tag, comm}, request);
}

int TAUT_Irecv(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               TAUT_Request* request) {
  return begin<InMessage>(RecvArguments{buf, count, type, source, tag, comm}, request);
}

int TAUT_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return guard(comm, [&] {
    if (to_probe(comm, source) == nullptr && !calls_in_flight()) return PMPI_Probe(source, tag, comm, status);
    bool found = false;
    for (taut::Backoff backoff;; backoff.pause()) {
      const int code = probe(comm, source, tag, found, status);
      if (found || code != MPI_SUCCESS) return code;
      progress(nullptr);
    }
  });
}

int TAUT_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return guard(comm, [&] {
    if (flag == nullptr) throw taut::Error(taut::Status::invalid_argument, "flag is NULL");
    bool found = false;
    const int code = probe(comm, source, tag, found, status);
    progress(nullptr);
    *flag = found;
    return code;
  });
}

}  // extern "C"

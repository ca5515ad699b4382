// Point-to-point calls of taut.h.
#include <taut/taut.h>

#include "communication/api/messages/message_calls.hpp"
#include "communication/api/state/comm_registry.hpp"
#include "communication/api/state/requests.hpp"
#include "communication/mpi/errors.hpp"

namespace taut::api {
namespace {

// Request of one message. `Call` is SendCall or RecvCall.
template <class Call>
class MessageRequest final : public TAUT_Request_s {
 public:
  MessageRequest(const p2p::MpiMessage& arguments, const void* site)
      : TAUT_Request_s(false),
        comm_(arguments.comm),
        comm_state_(shared_comm_state(arguments.comm)),
        call_(comm_state_.get(), arguments, site) {}

  int start() override {
    const int code = call_.start(&request_);
    active_ = code == MPI_SUCCESS;
    return code;
  }

  bool complete() override {
    if (!done_ && call_.ready(request_)) {
      int done = 0;
      mpi_code_ = PMPI_Test(&request_, &done, &mpi_status_);
      done_ = done != 0 || mpi_code_ != MPI_SUCCESS;
    }
    return done_;
  }

  void wait() override {
    if (!done_) mpi_code_ = wait_for(call_, request_, &mpi_status_);
    done_ = true;
  }

  Failure finish(MPI_Status* status) override {
    active_ = false;
    if (mpi_code_ != MPI_SUCCESS) {
      if (status != MPI_STATUS_IGNORE) *status = mpi_status_;
      return {mpi_code_, true};
    }
    if constexpr (requires { call_.finish(); })
      return call_.finish();
    else
      return call_.finish(mpi_status_, status);
  }

  MPI_Comm comm() const noexcept override {
    return comm_state_ != nullptr && comm_state_->freed() ? MPI_COMM_NULL : comm_;
  }

 private:
  static std::shared_ptr<CommState> shared_comm_state(MPI_Comm comm) {
    CommState* const comm_state = find_comm_state(comm);
    return comm_state != nullptr ? comm_state->shared_from_this() : nullptr;
  }

  MPI_Comm comm_;
  std::shared_ptr<CommState> comm_state_;
  Call call_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  MPI_Status mpi_status_{};
  bool done_ = false;
  int mpi_code_ = MPI_SUCCESS;
};

// Starts a nonblocking message. Inlined, so that its return address is the call site in the program.
template <class Call>
[[gnu::always_inline]] inline int begin(const p2p::MpiMessage& arguments, TAUT_Request* request) {
  const void* const site = __builtin_return_address(0);
  return guard(arguments.comm, [&] {
    if (request == nullptr) throw Error(Status::invalid_argument, "a request is NULL");
    *request = TAUT_REQUEST_NULL;
    auto made = std::make_unique<MessageRequest<Call>>(arguments, site);
    const int code = made->start();
    if (code == MPI_SUCCESS) *request = made.release();
    return code;
  });
}

// Sends the message of a TAUT_Sendrecv. If the send fails, the posted receive is abandoned.
int send_or_abandon(SendCall& sending, RecvCall& receiving, MPI_Request& request) {
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

int sendrecv(const p2p::MpiMessage& out, const p2p::MpiMessage& in, MPI_Status* status, const void* site) {
  CommState* const comm_state = find_comm_state(in.comm);
  SendCall sending(comm_state, out, site);
  RecvCall receiving(comm_state, in, site);
  MPI_Request request = MPI_REQUEST_NULL;
  if (const int code = receiving.start(&request); code != MPI_SUCCESS) return code;
  if (const int code = send_or_abandon(sending, receiving, request); code != MPI_SUCCESS) return code;
  MPI_Status mpi_status{};
  const int code = wait_for(receiving, request, &mpi_status);
  if (code == MPI_SUCCESS) return raise(in.comm, receiving.finish(mpi_status, status));
  if (status != MPI_STATUS_IGNORE) *status = mpi_status;
  return code;
}

// Returns the format of coded messages that a probe may find; null if none can be coded.
const MessageFormat* format_of(MPI_Comm comm, int source) {
  const p2p::Endpoint* const endpoint =
      source != MPI_PROC_NULL ? endpoint_of(find_comm_state(comm)) : nullptr;
  return endpoint != nullptr ? &endpoint->format() : nullptr;
}

int probe(MPI_Comm comm, int source, int tag, int* there, MPI_Status* status) {
  const MessageFormat* const format = format_of(comm, source);
  if (format == nullptr) return PMPI_Iprobe(source, tag, comm, there, status);
  p2p::ReadableStatus readable(status);
  return p2p::probe({source, tag, comm}, *format, there, *readable);
}

}  // namespace
}  // namespace taut::api

using namespace taut::api;

extern "C" {

int TAUT_Send(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  const void* const site = __builtin_return_address(0);
  return guard(comm, [&] {
    return SendCall(find_comm_state(comm), {buf, count, type, dest, tag, comm}, site).send();
  });
}

int TAUT_Recv(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Status* status) {
  const void* const site = __builtin_return_address(0);
  return guard(comm, [&] {
    return RecvCall(find_comm_state(comm), {buf, count, type, source, tag, comm}, site).receive(status);
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
  return begin<SendCall>({buf, count, type, dest, tag, comm}, request);
}

int TAUT_Irecv(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               TAUT_Request* request) {
  return begin<RecvCall>({buf, count, type, source, tag, comm}, request);
}

int TAUT_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return guard(comm, [&] {
    if (format_of(comm, source) == nullptr && !calls_in_flight())
      return PMPI_Probe(source, tag, comm, status);
    int there = 0;
    for (taut::Backoff backoff;; backoff.pause()) {
      const int code = probe(comm, source, tag, &there, status);
      if (there != 0 || code != MPI_SUCCESS) return code;
      progress(nullptr);
    }
  });
}

int TAUT_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return guard(comm, [&] {
    if (flag == nullptr) throw taut::Error(taut::Status::invalid_argument, "flag is NULL");
    const int code = probe(comm, source, tag, flag, status);
    progress(nullptr);
    return code;
  });
}

}  // extern "C"

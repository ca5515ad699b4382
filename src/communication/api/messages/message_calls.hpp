// TAUT_ calls that send or receive one message, blocking and nonblocking.
#pragma once

#include "communication/api/state/comm_registry.hpp"
#include "communication/p2p/probed_messages.hpp"
#include "communication/p2p/send.hpp"

namespace taut::api {

// A send. The object must not move until MPI has completed the send.
class SendCall {
 public:
  // Stores the arguments. `comm_state`: null if there is no policy. `site`: return address of the call.
  SendCall(CommState* comm_state, const p2p::MpiMessage& arguments, const void* site) noexcept
      : comm_state_(comm_state),
        site_(comm_state != nullptr ? comm_state->site_of(site) : site),
        send_(arguments) {}
  SendCall(const SendCall&) = delete;

  // send() blocks and drives the calls in flight; start() does not block. Both return an MPI error code,
  // already passed to the error handler, and throw Error.
  int send();
  int start(MPI_Request* request);

  // Returns true if the request of start() may be completed.
  bool ready(MPI_Request request) { return send_.ready(request); }

  // Returns the failure of a send one of whose segments could not be read, once the request is complete
  // without an error.
  Failure finish() const noexcept;

 private:
  template <class HandOver>
  int run(HandOver hand_over, bool keeps);
  bool describe();
  Fallback early_fallback() const noexcept;
  void encode();
  void count(std::uint64_t begin, std::uint64_t prepared) noexcept;

  CommState* comm_state_;
  const void* site_;
  std::size_t bytes_ = 0;
  p2p::Send send_;
};

// A receive. The object must not move until the message has arrived.
class RecvCall {
 public:
  RecvCall(CommState* comm_state, const p2p::MpiMessage& arguments, const void* site);
  RecvCall(const RecvCall&) = delete;
  ~RecvCall();

  // Receives, blocks and drives the calls in flight. Returns an MPI error code, already passed to the error
  // handler; throws Error.
  int receive(MPI_Status* status);

  // Receive in two steps. The datatype may be freed after start(). finish() follows when the request is
  // complete without an error; `mpi_status` is the status that MPI has returned. `status` may be
  // MPI_STATUS_IGNORE.
  int start(MPI_Request* request);
  bool ready(MPI_Request) { return !open_ || open_->ready(); }  // the request may be completed
  Failure finish(MPI_Status mpi_status, MPI_Status* status);
  void abandon(MPI_Request& request) noexcept;  // instead of finish(), after a failure elsewhere

 private:
  void check() const;
  int post(MPI_Request* request);

  p2p::MpiMessage at_;
  bool timed_ = false;
  MPI_Datatype kept_type_ = MPI_DATATYPE_NULL;
  p2p::Detached detached_;
  std::optional<p2p::OpenReceive> open_;  // of start(): the message may come in segments
};

// Completes a request, and drives the calls in flight meanwhile. Returns an MPI error code.
int wait_for(MPI_Request& request, MPI_Status* status);

// Completes the request of a call, a SendCall or RecvCall, once the call is ready.
template <class Call>
int wait_for(Call& call, MPI_Request& request, MPI_Status* status) {
  for (Backoff backoff; !call.ready(request); backoff.pause()) progress(nullptr);
  return wait_for(request, status);
}

}  // namespace taut::api

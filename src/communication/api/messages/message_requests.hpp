// Requests of nonblocking messages.
#pragma once

#include "communication/api/messages/message_calls.hpp"
#include "communication/api/state/comm_registry.hpp"
#include "communication/api/state/requests.hpp"

namespace taut::api {

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

}  // namespace taut::api

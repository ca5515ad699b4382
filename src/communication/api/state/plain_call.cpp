#include "communication/api/state/plain_call.hpp"

#include "communication/mpi/errors.hpp"

namespace taut::api {

PlainCall::~PlainCall() {
  if (persistent_) PMPI_Request_free(&request_);
}

int PlainCall::make_persistent(MPI_Comm comm, MPI_Info info) {
  args_.emplace(call_, comm);
  const int code = init_plain(call_, *args_, comm, info, &request_);
  persistent_ = code == MPI_SUCCESS;
  return code;
}

int PlainCall::start(MPI_Comm comm) {
  complete_ = false;
  return persistent_ ? PMPI_Start(&request_) : start_nonblocking(comm);
}

int PlainCall::start_nonblocking(MPI_Comm comm) {
  if (of_neighbours(call_.info().collective) && comm != call_.comm)
    return topology_ != nullptr ? messages_.start(call_, *topology_, comm) : raise(comm, MPI_ERR_TOPOLOGY);
  args_.emplace(call_, comm);
  return start_plain(call_, *args_, comm, &request_);
}

void PlainCall::issue() {
  code_ = start(private_comm_);
  complete_ = code_ != MPI_SUCCESS;
}

bool PlainCall::ready() {
  if (complete_) return true;
  int complete = 0;
  code_ = messages_.started() ? messages_.test(complete) : PMPI_Test(&request_, &complete, MPI_STATUS_IGNORE);
  complete_ = complete != 0 || code_ != MPI_SUCCESS;
  return complete_;
}

void PlainCall::wait() {
  if (complete_) return;
  code_ = messages_.started() ? messages_.wait() : PMPI_Wait(&request_, MPI_STATUS_IGNORE);
  complete_ = true;
}

}  // namespace taut::api

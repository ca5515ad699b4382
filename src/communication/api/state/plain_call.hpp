// PlainCall: a collective call of plain MPI, which is made at each start of a request and then polled.
#pragma once

#include "communication/api/state/comm_state.hpp"
#include "communication/mpi/neighbour_calls.hpp"
#include "communication/mpi/pmpi.hpp"

namespace taut::api {

class PlainCall final : public FallbackCall {
 public:
  // `call` must outlive this object.
  explicit PlainCall(const MpiCall& call) noexcept : call_(call) {}
  PlainCall(const PlainCall&) = delete;
  ~PlainCall();

  // Makes MPI's persistent request on a communicator of the same ranks; all starts then use it. Returns an
  // MPI error code, already passed to the error handler.
  int make_persistent(MPI_Comm comm, MPI_Info info);
  bool persistent() const noexcept { return persistent_; }

  // Sets the communicator of the same ranks that issue() uses, unless MPI's request is persistent.
  // `topology`: topology of the user's communicator, if `comm` lacks it; null: there is none.
  void set_private(MPI_Comm comm, const Topology* topology) noexcept {
    private_comm_ = comm;
    topology_ = topology;
  }

  // Starts the call on the user's communicator or the private one, or MPI's persistent request. Returns an
  // MPI error code, already passed to the error handler.
  int start(MPI_Comm comm);

  void issue() override;
  bool ready() override;
  void wait();
  int code() const noexcept { return code_; }  // MPI error code of a complete call

  // Returns MPI's request of a started call, which then belongs to the caller.
  MPI_Request release_request() noexcept { return std::exchange(request_, MPI_REQUEST_NULL); }

 private:
  int start_nonblocking(MPI_Comm comm);

  const MpiCall& call_;
  MPI_Comm private_comm_ = MPI_COMM_NULL;
  const Topology* topology_ = nullptr;
  std::optional<PmpiArgs> args_;  // arguments that MPI may read until completion
  MPI_Request request_ = MPI_REQUEST_NULL;
  NeighbourMessages
      messages_;  // serve a neighbourhood collective on a private communicator, without request_
  bool persistent_ = false, complete_ = false;
  int code_ = MPI_SUCCESS;
};

}  // namespace taut::api

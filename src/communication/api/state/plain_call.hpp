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

  // Sets a communicator of the same ranks that issue() uses, unless MPI's request is persistent. `topology`:
  // that of the user's communicator, which the other one lacks; null: none.
  void set_private(MPI_Comm comm, const Topology* topology) noexcept {
    private_ = comm;
    topology_ = topology;
  }

  // Starts the call on the user's communicator or the private one, or MPI's persistent request. Returns an
  // MPI error code, already passed to the error handler.
  int start(MPI_Comm comm);

  void issue() override;
  bool ready() override;
  void wait();
  int code() const noexcept { return code_; }  // of a call that is complete

  // Hands MPI's request of a started call to the caller.
  MPI_Request give() noexcept { return std::exchange(request_, MPI_REQUEST_NULL); }

 private:
  int start_nonblocking(MPI_Comm comm);

  const MpiCall& call_;
  MPI_Comm private_ = MPI_COMM_NULL;
  const Topology* topology_ = nullptr;
  std::optional<PmpiArgs> args_;  // arguments that MPI may read until completion
  MPI_Request request_ = MPI_REQUEST_NULL;
  NeighbourMessages messages_;  // in place of request_ on a private communicator
  bool persistent_ = false, complete_ = false;
  int code_ = MPI_SUCCESS;
};

}  // namespace taut::api

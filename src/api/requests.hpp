// What a TAUT_Request stands for: a call that is started now or later, once or again and again, and completed
// some time.
#pragma once

#include <taut/taut.h>

#include <variant>

#include "api/vector_calls.hpp"

namespace taut::api {

using AnyCall = std::variant<Allreduce, ReduceScatterBlock, ReduceScatter, Reduce, Bcast, Allgather, Alltoall,
                             Gather, Scatter, Allgatherv, Gatherv, Scatterv, Alltoallv>;

}  // namespace taut::api

// A start either puts a call in flight (where the ranks leave it to plain MPI, that runs on the private
// communicator) or, if it is plain at once, makes a request of MPI's on the user's communicator.
struct TAUT_Request_s final : private taut::PlainCall {
 public:
  // `site`: where the program made it.
  TAUT_Request_s(const taut::api::AnyCall& call, bool persistent, const void* site) noexcept
      : call_(call), persistent_(persistent), site_(site) {}
  TAUT_Request_s(const TAUT_Request_s&) = delete;
  ~TAUT_Request_s();

  // Finds the policy, which stays with the request; of a persistent call that has none, and with an MPI that
  // can, makes MPI's persistent request. An MPI code; throws Error.
  int init(MPI_Info info);

  // An MPI code; throws Error.
  int start();

  bool persistent() const noexcept { return persistent_; }
  bool active() const noexcept { return active_; }

  // Whether a call that was started is complete. To make it go on is up to wait() and api::progress().
  bool complete() noexcept;
  void wait() noexcept;

  // How a complete call ended: an MPI code, raised on the communicator. The request is inactive then.
  int finish() noexcept;

  // Where errors are raised; MPI_COMM_NULL if the user has freed the communicator.
  MPI_Comm comm() const noexcept;

 private:
  void keep_types();
  int start_plain();
  void issue() override;
  bool ready() override;

  taut::api::AnyCall call_;
  bool persistent_, active_ = false;
  const void* site_;
  std::shared_ptr<taut::api::Attached> attached_;  // null: no policy, or not a call for it
  std::array<MPI_Datatype, 2> kept_types_{MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  std::optional<taut::CallInFlight> in_flight_;  // of the last start; empty: plain at once
  MPI_Request plain_ = MPI_REQUEST_NULL;
  bool plain_is_persistent_ = false, plain_complete_ = false;
  int plain_code_ = MPI_SUCCESS;
};

// What a TAUT_Request stands for: a call that is started now or later, once or again and again, and completed
// some time.
#pragma once

#include <taut/taut.h>

#include "api/args/pmpi.hpp"
#include "api/state/comm_state.hpp"

// One thread at a time.
struct TAUT_Request_s {
  explicit TAUT_Request_s(bool persistent) noexcept : persistent_(persistent) {}
  TAUT_Request_s(const TAUT_Request_s&) = delete;
  virtual ~TAUT_Request_s() = default;

  bool persistent() const noexcept { return persistent_; }
  bool active() const noexcept { return active_; }

  virtual int start() = 0;  // an MPI code; throws Error

  // Whether what was started is complete. To make it go on is up to wait() and api::progress().
  virtual bool complete() noexcept = 0;
  virtual void wait() noexcept = 0;

  // How it ended, once it is complete: an MPI code, raised on the communicator. `status` is that of an empty
  // request, which messages fill; it may be MPI_STATUS_IGNORE. The request is inactive then.
  virtual int finish(MPI_Status* status) noexcept = 0;

  // Where errors are raised; MPI_COMM_NULL if the user has freed the communicator.
  virtual MPI_Comm comm() const noexcept = 0;

 protected:
  bool persistent_, active_ = false;
};

namespace taut::api {

// A collective call. A start either puts a call in flight (where the ranks leave it to plain MPI, that runs
// on the private communicator) or, if it is plain at once, makes a request of MPI's on the user's
// communicator.
class CollectiveRequest final : public TAUT_Request_s, private FallbackCall {
 public:
  CollectiveRequest(const MpiCall& call, bool persistent) noexcept
      : TAUT_Request_s(persistent), call_(call) {}
  ~CollectiveRequest() override;

  // Finds the policy, which stays with the request; of a persistent call that none serves, and with an MPI
  // that can, makes MPI's persistent request. An MPI code; throws Error.
  int init(MPI_Info info);

  // After init(): from now on it may be started in any order among other calls, which may differ between
  // ranks. Collective over the communicator. False: no policy serves it, or it is too small for any;
  // `counts`: such calls are started by Taut all the same, for reports.
  bool set_apart(bool counts);

  int start() override;
  bool complete() noexcept override;
  void wait() noexcept override;
  int finish(MPI_Status* status) noexcept override;
  MPI_Comm comm() const noexcept override;

  // Of a nonblocking call that is plain at once: MPI's request, which is the caller's from now on.
  // MPI_REQUEST_NULL: it is another one.
  MPI_Request give_plain() noexcept;

 private:
  bool freed() const noexcept;  // whether the user has freed the communicator
  bool keep_types();
  std::optional<CollectiveCall> describe() const;
  int start_plain();
  void issue() override;
  bool ready() override;

  int start_plain_on(MPI_Comm comm);

  MpiCall call_;
  std::optional<PmpiArgs> plain_args_;     // what plain MPI may read until the call is complete
  Group group_;                            // of a mean
  std::shared_ptr<CommState> comm_state_;  // null: no policy, or not a call for it
  std::shared_ptr<CommState> apart_from_;  // that of the user's communicator, if this call has its own
  std::array<MPI_Datatype, 2> kept_types_{MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  std::optional<CallInFlight> in_flight_;  // of the last start; empty: plain at once
  MPI_Request plain_ = MPI_REQUEST_NULL;
  bool plain_is_persistent_ = false, plain_complete_ = false;
  int plain_code_ = MPI_SUCCESS;
};

}  // namespace taut::api

// TAUT_Request: a call that is started once or repeatedly, and completed later.
#pragma once

#include <taut/taut.h>

#include "communication/api/state/checked_call.hpp"
#include "communication/api/state/enqueued_calls.hpp"

// Base of all requests. One thread at a time may use a request.
struct TAUT_Request_s {
  explicit TAUT_Request_s(bool persistent) noexcept : persistent_(persistent) {}
  TAUT_Request_s(const TAUT_Request_s&) = delete;
  virtual ~TAUT_Request_s() = default;

  bool persistent() const noexcept { return persistent_; }
  bool active() const noexcept { return active_; }

  virtual int start() = 0;  // returns an MPI error code; throws Error

  // Starts the call in the order of a stream, and makes a stream wait for it. Throw Error.
  virtual void start_on(void* stream);
  virtual void hold(void* stream);

  // Returns true if the started call is complete. Advancing the call is the task of wait() and
  // api::progress().
  virtual bool complete() = 0;
  virtual void wait() = 0;

  // Finishes a complete call. Returns its failure, which the caller raises on the communicator. `status` is
  // an empty status, which messages fill; it may be MPI_STATUS_IGNORE. The request is inactive afterwards.
  virtual taut::api::Failure finish(MPI_Status* status) = 0;

  // Returns the communicator on which errors are raised; MPI_COMM_NULL if the user has freed it.
  virtual MPI_Comm comm() const noexcept = 0;

 protected:
  bool persistent_, active_ = false;
};

namespace taut::api {

// Request of a collective call. A start puts a call in flight or, if the call falls back early, makes an MPI
// request on the user's communicator. If the ranks agree that a call in flight falls back, plain MPI runs on
// the private communicator.
class CollectiveRequest final : public TAUT_Request_s {
 public:
  CollectiveRequest(const MpiCall& call, bool persistent) noexcept
      : TAUT_Request_s(persistent), call_(call), plain_(call_) {}
  ~CollectiveRequest() override;

  // Finds the policy, which stays with the request. If no policy serves a persistent call and this MPI has
  // persistent collectives, makes MPI's persistent request. Returns an MPI error code; throws Error.
  int init(MPI_Info info);

  // Gives the request, after init(), a private communicator of its own. It may then be started in any order
  // among other calls, and the order may differ between ranks. Collective over the communicator. Returns
  // false if no policy serves the call, or the call is too small for any policy. `counts`: Taut also starts
  // calls that are too small, for reports.
  bool set_apart(bool counts);

  // Makes the persistent request of MPI, on the private communicator of set_apart(), by which plain MPI
  // serves the starts: some MPIs start it in half the time of a nonblocking call. A call on neighbours has
  // none, because the private communicator has no topology. Collective over the communicator. Returns an MPI
  // error code, already passed to the error handler.
  int make_plain_persistent();

  int start() override;
  void start_on(void* stream) override;
  void hold(void* stream) override;
  bool complete() override;
  void wait() override;
  Failure finish(MPI_Status* status) override;
  MPI_Comm comm() const noexcept override;

  // Returns true if MPI alone advances the started call, as a request of plain MPI.
  bool advanced_by_mpi() const noexcept;

  // Hands MPI's request of a nonblocking call that fell back early to the caller. Returns MPI_REQUEST_NULL
  // for any other request.
  MPI_Request give_plain() noexcept;

 private:
  bool freed() const noexcept;        // true if the user has freed the communicator
  bool is_orphaned() const noexcept;  // true if a start needs the communicator that the user has freed
  bool on_stream() const noexcept;    // true if the last start was made on a stream
  bool keep_types();
  std::optional<CollectiveCall> describe() const;
  int start_plain();
  int start_check(const CollectiveCall& described);
  void set_private();

  // Measurement of a started call that fell back early.
  struct EarlyPlain {
    void record() noexcept;  // once

    RecentTimes* times = nullptr;  // null: the time is not recorded
    std::uint64_t began = 0;
    std::size_t bytes = 0;
  };

  MpiCall call_;
  RankAndSize group_;                                    // ranks, for a mean
  std::shared_ptr<CommState> comm_state_;                // null: no policy serves the call
  std::shared_ptr<CommState> apart_from_;                // state of the user's communicator, if set_apart()
  std::vector<MPI_Datatype> kept_types_;                 // duplicates of derived types
  std::array<std::vector<MPI_Datatype>, 2> type_lists_;  // datatypes of the blocks, kept ones among them
  std::optional<CallInFlight> in_flight_;                // call of the last start; empty: it fell back early
  std::unique_ptr<CheckedCall> checked_;                 // check of the last start; null: not checked
  CallKey checked_key_{};                                // under which it is counted
  PlainCall plain_;
  std::unique_ptr<EnqueuedCalls> enqueued_;  // calls of starts on streams; null: there was no such start
  EarlyPlain early_plain_;
};

// Begin a nonblocking call of taut.h, or prepare a persistent one. As serve().
int begin(const MpiCall& call, TAUT_Request* request);
int prepare(const MpiCall& call, MPI_Info info, TAUT_Request* request);

}  // namespace taut::api

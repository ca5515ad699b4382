// Calls that persistent requests start in the order of streams (TAUT_Cuda_start_enqueue).
#pragma once

#include <list>

#include "communication/api/state/plain_call.hpp"
#include "communication/gpu/stream_order.hpp"

namespace taut::api {

// Private communicator of one request, for MPIs without persistent requests of collectives.
struct RequestComm {
  std::unique_ptr<MpiTransport> transport;
  std::shared_ptr<const Topology> topology;  // of the user's communicator; null: none, or not needed
};

// Call of one start of a request. The call is active from the start on, but communicates only once the stream
// has reached the point of the start.
class EnqueuedCall final : private FallbackCall {
 public:
  // `persistent`: MPI's persistent request of this call, or another PlainCall that is not used.
  EnqueuedCall(const MpiCall& call, const RankAndSize& group, PlainCall& persistent, void* stream,
               const gpu::DeviceServices& services, gpu::HostCounter& completed) noexcept;
  EnqueuedCall(const EnqueuedCall&) = delete;

  // Puts the call in flight. `comm_state`: null if no policy serves the request. `own`: communicator that no
  // other request uses; null: there is none. Throws Error.
  void start(CommState* comm_state, const RequestComm* own);
  bool done() const noexcept { return in_flight_->done(); }
  int code() const noexcept { return code_; }  // MPI error code of a call that is done, not raised

 private:
  void issue() override { plain_->issue(); }
  bool ready() override { return plain_->ready(); }
  void ended() noexcept override;

  const MpiCall& call_;
  const RankAndSize& group_;
  gpu::StreamPoint begins_;
  gpu::HostCounter& completed_;
  PlainCall own_plain_;
  PlainCall* plain_;  // own_plain_ or MPI's persistent request
  std::optional<CallInFlight> in_flight_;
  int code_ = MPI_SUCCESS;
};

// Started calls of one request that the user has not completed yet, in the order of their starts.
class EnqueuedCalls {
 public:
  // All arguments belong to the request, which must outlive this object. Starts the progress thread. Throws
  // Error if calls on streams cannot be served.
  EnqueuedCalls(const MpiCall& call, const RankAndSize& group, const std::shared_ptr<CommState>& comm_state,
                PlainCall& plain);

  // Starts the call at the end of the work that is on the stream now. Throws Error.
  void start(void* stream);
  // Makes later work of the stream wait for the last start. Throws Error.
  void hold(void* stream);

  // Returns true if a stream waits for the last start.
  bool held() const noexcept { return held_; }
  bool any() const noexcept { return !calls_.empty(); }
  bool done() const noexcept;

  // Removes all calls, which must be done. Returns the failure of the first one that failed.
  Failure finish() noexcept;

 private:
  void drop_done() noexcept;

  const MpiCall& call_;
  const RankAndSize& group_;
  const std::shared_ptr<CommState>& comm_state_;
  PlainCall& plain_;
  const gpu::DeviceServices& services_;
  gpu::HostCounter completed_;
  std::uint32_t last_;                   // value of the counter at which the last start is complete
  std::optional<RequestComm> own_comm_;  // where nothing else keeps plain MPI's calls apart from other calls
  bool held_ = false;
  int failure_ = MPI_SUCCESS;  // first error code of the calls that are dropped from the list
  std::list<EnqueuedCall> calls_;
};

}  // namespace taut::api

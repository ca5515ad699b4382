// Nonblocking calls: they are progressed by later calls of the library until they complete. They run the same
// coroutine as blocking calls.
#pragma once

#include <atomic>

#include "communication/comm/communicator.hpp"

namespace taut {

// A call of plain MPI that is issued once, then polled.
class FallbackCall : public Waitable {
 public:
  virtual void issue() = 0;
  void result() const noexcept {}

  // Is called when the call in flight is done, by the thread that drives it.
  virtual void ended() noexcept {}

 protected:
  ~FallbackCall() = default;
};

// A nonblocking call. The object must stay in place until the call is done.
class CallInFlight {
 public:
  // `plain` replaces the call if the ranks agree to leave it to plain MPI. It is issued only after
  // each earlier call has been issued or is served compressed: every rank thus issues the plain calls in the
  // same order, on a communicator that nothing else uses. `early`: as for Communicator::run().
  CallInFlight(Communicator& comm, const CollectiveCall& call, FallbackCall& plain,
               const std::optional<EarlyDecision>& early = {});

  // A call that is left to plain MPI from the beginning, for the reason `why`. It is issued at the point
  // `begins` of a stream and, if `in_turn`, after those of all earlier calls.
  CallInFlight(FallbackCall& plain, Fallback why, gpu::StreamPoint& begins, bool in_turn)
      : plain_(plain), later_may_issue_(!in_turn), task_(run_plain(why, begins)) {}
  CallInFlight(const CallInFlight&) = delete;

  // Returns true if the call is done. Any thread may ask; a thread that gets true may read the verdict, or
  // destroy the object.
  bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  Verdict verdict() { return task_.result(); }  // throws the Error that ended the call

 private:
  friend class InFlight;

  struct Turn final : Waitable {
    bool come = false;
    bool ready() override { return come; }
    void result() const noexcept {}
  };

  Task<Verdict> run(Communicator& comm, CollectiveCall call, std::optional<EarlyDecision> early);
  Task<Verdict> run_plain(Fallback why, gpu::StreamPoint& begins);
  bool step(bool& turn) noexcept;

  FallbackCall& plain_;
  Turn turn_;
  bool later_may_issue_ = false;  // this call is served compressed, or its plain call is issued
  std::atomic<bool> done_ = false;
  Task<Verdict> task_;
};

// Calls of one communicator that are not done. For one thread at a time.
class InFlight {
 public:
  // Advances a call by its first step, which fixes its place among the calls of the communicator. Throws
  // std::bad_alloc before that step.
  void start(CallInFlight& call);

  // Advances every call by a step, in the order of their start. A rank that waits for one call progresses all
  // calls, because other ranks may wait for another one.
  void progress() noexcept;

  std::size_t size() const noexcept { return calls_.size(); }

 private:
  std::vector<CallInFlight*> calls_;
};

}  // namespace taut

// Nonblocking calls: they are progressed by later calls of the library until they complete. They run the same
// coroutine as blocking calls.
#pragma once

#include <atomic>

#include "comm/communicator.hpp"

namespace taut {

// A call of plain MPI that is issued once, then polled.
class FallbackCall : public Waitable {
 public:
  virtual void issue() = 0;
  void result() const noexcept {}

 protected:
  ~FallbackCall() = default;
};

// A nonblocking call. The object must stay in place until the call is done.
class CallInFlight {
 public:
  // `plain` replaces the call if the ranks agree to leave it to plain MPI. It is issued only after all
  // earlier calls are settled: every rank thus issues the plain calls in the same order, on a communicator
  // that nothing else uses. `early`: as for Communicator::run().
  CallInFlight(Communicator& comm, const CollectiveCall& call, FallbackCall& plain,
               std::optional<EarlyDecision> early = {})
      : task_(run(comm, call, plain, early)) {}
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

  Task<Verdict> run(Communicator& comm, CollectiveCall call, FallbackCall& plain,
                    std::optional<EarlyDecision> early);
  bool step(bool& turn) noexcept;

  Turn turn_;
  bool settled_ = false;  // the call is not left to plain MPI, or its plain call is issued
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

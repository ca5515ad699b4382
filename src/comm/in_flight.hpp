// Nonblocking calls: started now, driven by whoever calls the library next, complete some time. They run the
// same coroutine as blocking ones.
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

// One call. It stays where it is until it is done.
class CallInFlight {
 public:
  // `plain` takes the call's place if the ranks agree to leave it to plain MPI. It is not issued before the
  // plain calls of all earlier calls are: so every rank issues them in the same order, on a communicator that
  // nothing else uses.
  CallInFlight(Communicator& comm, const CollectiveCall& call, FallbackCall& plain)
      : task_(run(comm, call, plain)) {}
  CallInFlight(const CallInFlight&) = delete;

  // Any thread may ask; the one that finds it done may look at the verdict, or destroy it.
  bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  Verdict verdict() { return task_.result(); }  // throws the Error that ended the call

 private:
  friend class InFlight;

  struct Turn final : Waitable {
    bool come = false;
    bool ready() override { return come; }
    void result() const noexcept {}
  };

  Task<Verdict> run(Communicator& comm, CollectiveCall call, FallbackCall& plain);
  bool step(bool& turn) noexcept;

  Turn turn_;
  bool settled_ = false;  // not left to plain MPI, or its plain call is issued
  std::atomic<bool> done_ = false;
  Task<Verdict> task_;
};

// The calls of one communicator that are not done. For one thread at a time.
class InFlight {
 public:
  // Takes the first step of a call: its place among the calls of the communicator is settled. Throws
  // std::bad_alloc before that.
  void start(CallInFlight& call);

  // A step of every call, in the order of their start. A rank that waits for one of them drives all of them,
  // because others may wait for another one.
  void progress() noexcept;

  std::size_t size() const noexcept { return calls_.size(); }

 private:
  std::vector<CallInFlight*> calls_;
};

}  // namespace taut

#include "communication/comm/in_flight.hpp"

#include "communication/gpu/stream_order.hpp"

namespace taut {

CallInFlight::CallInFlight(Communicator& comm, const CollectiveCall& call, FallbackCall& plain,
                           const std::optional<EarlyDecision>& early)
    : plain_(plain), task_(run(comm, call, early)) {}

Task<Verdict> CallInFlight::run(Communicator& comm, CollectiveCall call, std::optional<EarlyDecision> early) {
  const std::uint64_t begin = clock_now();
  const Verdict verdict = co_await comm.run(call, early, &later_may_issue_);
  if (verdict.fallback != Fallback::none) {
    co_await turn_;
    plain_.issue();
    later_may_issue_ = true;
    co_await plain_;
    if (verdict.plain_times != nullptr) verdict.plain_times->note(seconds(clock_now() - begin), call.bytes);
  }
  co_return verdict;
}

Task<Verdict> CallInFlight::run_plain(Fallback why, gpu::StreamPoint& begins) {
  const Status begun = co_await begins;
  if (!later_may_issue_) co_await turn_;
  plain_.issue();
  later_may_issue_ = true;
  co_await plain_;
  co_return Verdict{why, begun};
}

// Advances the call. Returns true if the call is done; from then on only its owner may access it. `turn`:
// true if all earlier calls let this one issue its plain call; stays true if this call lets the next one.
bool CallInFlight::step(bool& turn) noexcept {
  turn_.come = turn;
  const bool done = task_.advance();
  turn = turn && (later_may_issue_ || done);
  if (done) {
    plain_.ended();
    done_.store(true, std::memory_order_release);
  }
  return done;
}

void InFlight::start(CallInFlight& call) {
  calls_.push_back(&call);
  bool turn = false;  // progress() finds out the actual turn
  if (call.step(turn)) calls_.pop_back();
}

void InFlight::progress() noexcept {
  bool turn = true;
  std::size_t open = 0;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    CallInFlight* const call = calls_[i];
    if (!call->step(turn)) calls_[open++] = call;
  }
  calls_.resize(open);
}

}  // namespace taut

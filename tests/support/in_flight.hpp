// Nonblocking calls on loopback: substitutes for calls of plain MPI, and for waiting.
#pragma once

#include "communication/comm/in_flight.hpp"
#include "support/ranks.hpp"

namespace taut::test {

// Substitute for a call of plain MPI: the ranks compare what they issued. The order of issue determines its
// lanes; calls of Taut do not use these lanes.
class ComparedPlainCall final : public FallbackCall {
 public:
  ComparedPlainCall(Transport& transport, int& issued, std::uint64_t identity)
      : transport_(transport), issued_(issued), identity_(identity) {}

  void issue() override {
    AgreementMessage facts;
    facts.set_signature(identity_);
    comparison_ = agree(transport_, (issued_++ % 128) * 128 + 127, facts);
    issued_here_ = true;
  }
  bool ready() override { return comparison_.advance(); }
  bool issued() const noexcept { return issued_here_; }
  bool same_everywhere() { return comparison_.result().same_signature(); }

 private:
  Transport& transport_;
  int& issued_;
  std::uint64_t identity_;
  Task<AgreementMessage> comparison_;
  bool issued_here_ = false;
};

// One rank's side of a call.
struct OneCall {
  OneCall(Communicator& comm, CollectiveCall what, Transport& transport, int& issued, std::uint64_t identity)
      : request(what), plain(transport, issued, identity), call(comm, what, plain) {}
  CollectiveCall request;
  ComparedPlainCall plain;
  CallInFlight call;
};

// Wait for one call, which progresses all calls of the rank.
class Completion final : public Waitable {
 public:
  Completion(InFlight& all, const CallInFlight& one) : all_(all), one_(one) {}
  bool ready() override {
    all_.progress();
    return one_.done();
  }
  void result() const noexcept {}

 private:
  InFlight& all_;
  const CallInFlight& one_;
};

// A blocking call while others are in flight.
class Blocking final : public Waitable {
 public:
  Blocking(InFlight& all, Task<Verdict> started) : all_(all), task_(std::move(started)) {}
  bool ready() override {
    const bool done = task_.advance();
    all_.progress();
    return done;
  }
  Verdict result() { return task_.result(); }

 private:
  InFlight& all_;
  Task<Verdict> task_;
};

}  // namespace taut::test

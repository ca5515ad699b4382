// Cache of the last call that fell back early, if calls like it fall back again: the shortest path of a call.
#pragma once

#include "communication/api/state/bound_rules.hpp"
#include "communication/api/state/observed_calls.hpp"
#include "communication/comm/tuner.hpp"
#include "communication/mpi/mpi_call.hpp"

namespace taut::api {

class RepeatedCall {
 public:
  RepeatedCall(const BoundRules& rules, ObservedCalls& observed) noexcept
      : rank_(rules.group().rank), by_site_(rules.keeps_sites()), rules_(rules), observed_(observed) {}

  // Returns true if a call is like the last one, which fell back early, and falls back again. The call is
  // then counted. Inspects no datatype.
  inline bool is_like(const MpiCall& call) noexcept;
  // Makes the plain call after is_like().
  inline int serve(const MpiCall& call);

  // Remembers a call that fell back early.
  void remember(const MpiCall& call, const CollectiveCall& request, const EarlyDecision& early) noexcept;
  // Forgets a call in back-off: another call comes.
  void end_back_off() noexcept {
    if (last_.autotuner != nullptr) forget();
  }
  void forget() noexcept { last_ = {}; }
  // Notes the time of a plain call, which stands for those after it.
  void note_time(std::uint64_t nanoseconds) noexcept { last_.nanoseconds = nanoseconds; }

 private:
  struct Last {
    MpiCall call;
    CallKey key{};
    std::size_t bytes = 0;
    Fallback why = Fallback::none;
    Autotuner* autotuner = nullptr;  // in back-off; valid until another call comes. Null: the call is small
    std::uint32_t calls = 0;         // repeated calls in back-off since then
    std::uint64_t nanoseconds = 0;   // time of the last timed call
  } last_;
  int rank_;
  bool by_site_;
  const BoundRules& rules_;
  ObservedCalls& observed_;
};

}  // namespace taut::api

// Tuner: decides how the calls of one communicator are served, and learns from their times. Every rank asks
// about the same calls in the same order, and the times of all ranks go through the agreement. Every rank
// therefore decides alike.
#pragma once

#include <deque>
#include <utility>

#include "communication/policy/plan/rules.hpp"
#include "communication/policy/tuning/overlap_tuner.hpp"

namespace taut {

// Table of autotuners by kind of call: collective, size class, and type and operator of a reduction, which
// every rank knows. It holds most_kinds kinds; further kinds replace others, the same on every rank.
class AutotunerTable {
 public:
  static constexpr std::size_t most_kinds = 64;
  Autotuner& of(const Call& call, std::size_t bytes) noexcept { return find(call, bytes).autotuner; }
  OverlapTuner& of_overlapping(const Call& call, std::size_t bytes) noexcept {
    return find(call, bytes).overlap_tuner;
  }

 private:
  struct Kind {
    std::uint32_t key = 0;  // 0: free
    Autotuner autotuner;
    OverlapTuner overlap_tuner;  // for calls that may overlap others
  };
  Kind& find(const Call& call, std::size_t bytes) noexcept;
  std::array<Kind, most_kinds> kinds_;
};

// Policy state: what the calls under one policy share.
struct PolicyState {
  PolicyState(const Policy& asked, const std::string& kernels) : policy(asked), codecs(kernels) {}

  const Policy& policy;
  CandidateTable candidates;
  AutotunerTable autotuners;
  CodecCache codecs;
};

// Early decision: what is known about a call before the ranks agree on it.
struct EarlyDecision {
  Fallback fallback = Fallback::none;   // reason of an early fallback
  PolicyState* policy_state = nullptr;  // null: the rule depends on data that the ranks have to agree on
  Autotuner* autotuner = nullptr;       // learns from the call; null: nothing does
  std::optional<std::size_t> cached_candidate = {};  // the only candidate that is sampled; none: all are
  Route route = {};                                  // requested route
  bool overlaps = false;                             // other calls may be in flight
  // Position in a tuning period, of a call that may overlap others and is compared with plain MPI.
  std::optional<PeriodPosition> position = {};

  // Returns the times of plain calls of this kind; null: none are recorded.
  RecentTimes* plain_times() const noexcept {
    return autotuner != nullptr ? &autotuner->plain_times() : nullptr;
  }
};

class Tuner {
 public:
  // Throws Error if a policy cannot be served here.
  Tuner(Rules rules, int ranks, const std::string& kernels);
  Tuner(const Tuner&) = delete;

  const Rules& rules() const noexcept { return rules_; }

  // Returns the rules that name the call site: bit i is set for rule i.
  std::uint64_t sites(const void* address) noexcept;

  // Decides on a call as far as this rank alone can tell. Local. To be called once for each call, in the
  // order of the calls. Calls that overlap others use what the other calls have taught their autotuner, but
  // teach only their overlap tuner: they may complete in different orders on different ranks. `in_periods`:
  // such a call may wait for calls that were started before it. Throws std::bad_alloc.
  EarlyDecision decide(const Call& call, bool overlaps, bool in_periods = true);

  // Decides on a call whose rule the ranks have agreed on.
  EarlyDecision decide(const Rule& rule, const Call& call, bool overlaps, bool in_periods = true);

  // Returns the policy state of one of these rules.
  PolicyState& of(const Rule& rule) noexcept {
    return policies_[static_cast<std::size_t>(&rule - rules_.all().data())];
  }

 private:
  Rules rules_;
  int ranks_;
  std::deque<PolicyState> policies_;                          // by rule
  std::vector<std::pair<const void*, std::uint64_t>> sites_;  // call sites looked up so far
};

}  // namespace taut

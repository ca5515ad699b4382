// Rules of a communicator, as its ranks agreed on them: they decide which calls are served at all.
#pragma once

#include "communication/comm/call_site.hpp"
#include "communication/comm/collective_call.hpp"
#include "communication/mpi/rank_and_size.hpp"
#include "communication/policy/plan/rules.hpp"
#include "compressor/base/options.hpp"

namespace taut::api {

class BoundRules {
 public:
  // `rules`: a policy, or the rules on this communicator. `enabled`: on all ranks. `inter`: the communicator
  // is an intercommunicator.
  // `checked_one_in`: one of so many served calls is checked against plain MPI; 0: none.
  BoundRules(Rules rules, bool enabled, bool inter, RankAndSize group, int checked_one_in = 0)
      : rules_(std::move(rules)),
        enabled_(enabled),
        inter_(inter),
        group_(group),
        checked_one_in_(checked_one_in) {}

  const Rules& rules() const noexcept { return rules_; }
  const RankAndSize& group() const noexcept { return group_; }
  int checked_one_in() const noexcept { return checked_one_in_; }

  // Returns true if any call may be compressed; the same on every rank.
  bool usable() const noexcept { return enabled_ && !inter_ && group_.size > 1 && !rules_.off(); }

  // Returns true if duplicates of the communicator inherit these rules, which are a policy. Without a policy,
  // a duplicate binds the rules itself.
  bool inherited() const noexcept { return rules_.only() != nullptr; }
  const Policy& policy() const noexcept { return *rules_.only(); }  // valid if inherited()

  // Returns the reason why plain MPI serves the messages of a communicator that has no endpoint.
  Fallback fallback_reason() const noexcept {
    return enabled_ && inherited() && !rules_.off() ? Fallback::communicator : Fallback::off;
  }

  // Returns true if a call falls back early whatever the ranks measure. Local, and the same on all ranks.
  bool never_serves(const std::optional<CollectiveCall>& request) const noexcept {
    return !request || (request->bytes_known && request->bytes < rules_.least_bytes());
  }

  // Returns the reason why plain MPI serves a call; none: the tuner decides. Without a request, the call is
  // not one that Taut compresses.
  Fallback early_fallback(const std::optional<CollectiveCall>& request) const noexcept {
    if (!enabled_ || rules_.off()) return Fallback::off;
    if (!request) return Fallback::unsupported;
    if (!usable()) return Fallback::communicator;
    return never_serves(request) ? Fallback::small : Fallback::none;
  }

  // Returns true if a message of this size is timed.
  bool is_timed(std::size_t bytes) const noexcept {
    return observed_closely_ || bytes >= rules_.least_bytes();
  }
  bool observed_closely() const noexcept { return observed_closely_; }

  bool inter() const noexcept { return inter_; }
  bool names_sites() const noexcept { return names_sites_; }
  bool keeps_sites() const noexcept { return keeps_sites_; }
  // Returns the call site in the program, if a report or a rule names call sites, or the calls of a policy
  // may come from lines of Python. Called while the program's call is on the stack.
  const void* placed(const void* return_address) const noexcept {
    if (names_sites_) return program_site(return_address);
    return keeps_sites_ ? return_address : nullptr;
  }

 private:
  Rules rules_;
  bool enabled_, inter_;
  RankAndSize group_;
  int checked_one_in_;
  bool observed_closely_ = options().observe();
  bool names_sites_ = !options().report.empty() || rules_.need_callsites() || (inherited() && python_runs());
  bool keeps_sites_ = names_sites_ || inherited();  // rules alone count calls of all sites together
};

}  // namespace taut::api

// AgreedRules: the rules of a communicator after its ranks have compared them, and the decisions that follow
// from the rules alone, before the tuner: which calls plain MPI serves, and which are timed.
#pragma once

#include "communication/comm/call_site.hpp"
#include "communication/comm/collective_call.hpp"
#include "communication/mpi/rank_and_size.hpp"
#include "communication/policy/plan/rules.hpp"
#include "compressor/base/options.hpp"

namespace taut::api {

class AgreedRules {
 public:
  // `rules`: a policy, or the rules on this communicator. `enabled`: Taut is enabled on all ranks. `inter`:
  // the communicator is an intercommunicator. `check_interval`: number of served calls of which one is
  // checked against plain MPI; 0: no checks.
  AgreedRules(Rules rules, bool enabled, bool inter, RankAndSize group, int check_interval = 0)
      : rules_(std::move(rules)),
        enabled_(enabled),
        inter_(inter),
        group_(group),
        check_interval_(check_interval) {}

  const Rules& rules() const noexcept { return rules_; }
  const RankAndSize& group() const noexcept { return group_; }
  int check_interval() const noexcept { return check_interval_; }

  // Returns true if any call may be compressed; the same on every rank.
  bool may_compress() const noexcept { return enabled_ && !inter_ && group_.size > 1 && !rules_.off(); }

  // Returns true if these rules are one policy, which duplicates of the communicator inherit. The ranks of
  // other duplicates compare the rules of the process again.
  bool has_policy() const noexcept { return rules_.single_policy() != nullptr; }
  const Policy& policy() const noexcept { return *rules_.single_policy(); }  // requires has_policy()

  // Returns the reason why plain MPI serves the messages of a communicator that has no endpoint.
  Fallback fallback_reason() const noexcept {
    return enabled_ && has_policy() && !rules_.off() ? Fallback::communicator : Fallback::off;
  }

  // Returns true if plain MPI serves every call like this one: Taut does not support the call, or the call is
  // smaller than all rules ask for. The same on all ranks, without communication.
  bool never_serves(const std::optional<CollectiveCall>& request) const noexcept {
    return !request || (request->bytes_known && request->bytes < rules_.min_bytes());
  }

  // Returns the reason why plain MPI serves a call; none: the tuner decides. Without a request, the call is
  // not one that Taut compresses.
  Fallback early_fallback(const std::optional<CollectiveCall>& request) const noexcept {
    if (!enabled_ || rules_.off()) return Fallback::off;
    if (!request) return Fallback::unsupported;
    if (!may_compress()) return Fallback::communicator;
    return never_serves(request) ? Fallback::small : Fallback::none;
  }

  // Returns true if a message of this size is timed.
  bool is_timed(std::size_t bytes) const noexcept { return times_every_call_ || bytes >= rules_.min_bytes(); }
  bool times_every_call() const noexcept { return times_every_call_; }

  bool inter() const noexcept { return inter_; }
  bool resolves_sites() const noexcept { return resolves_sites_; }
  bool counts_by_site() const noexcept { return counts_by_site_; }
  // Returns the call site by which a call is counted; null: calls of all sites are counted together. The site
  // is found on the stack, outside libraries and as a line of Python, if a report or a rule names call sites,
  // or if Python runs under a policy; otherwise it is the return address.
  const void* site_of(const void* return_address) const noexcept {
    if (resolves_sites_) return program_site(return_address);
    return counts_by_site_ ? return_address : nullptr;
  }

 private:
  Rules rules_;
  bool enabled_, inter_;
  RankAndSize group_;
  int check_interval_;
  bool times_every_call_ = options().observe();
  bool resolves_sites_ =
      !options().report.empty() || rules_.need_callsites() || (has_policy() && python_runs());
  bool counts_by_site_ = resolves_sites_ || has_policy();  // rules alone count calls of all sites together
};

}  // namespace taut::api

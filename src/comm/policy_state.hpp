// Policy table: the policy of a communicator, or the rules of the process, each with the state that its calls
// share.
#pragma once

#include <deque>
#include <utility>

#include "comm/codec_cache.hpp"
#include "policy/plan/rules.hpp"
#include "policy/tuning/autotuner.hpp"

namespace taut {

// Policy state: what calls under one policy share.
struct PolicyState {
  PolicyState(const Policy& asked, const std::string& kernels)
      : policy(asked), codecs(asked.coding, kernels) {}

  const Policy& policy;
  CandidateTable candidates;
  AutotunerTable autotuners;
  CodecCache codecs;
};

class PolicyTable {
 public:
  // Throws Error if a policy cannot be served here.
  PolicyTable(Rules rules, const std::string& kernels);
  PolicyTable(const PolicyTable&) = delete;

  const Rules& rules() const noexcept { return rules_; }

  // Returns the rules that name the call site: bit i is set for rule i.
  std::uint64_t sites(const void* address) noexcept;

  // Returns the rule for a call, as far as this rank alone can tell.
  Match match(Call call) noexcept {
    call.sites = sites(call.site);
    return rules_.match(call);
  }

  // Returns the policy state of one of these rules.
  PolicyState& of(const Rule& rule) noexcept {
    return policies_[static_cast<std::size_t>(&rule - rules_.all().data())];
  }

 private:
  Rules rules_;
  std::deque<PolicyState> policies_;                          // by rule
  std::vector<std::pair<const void*, std::uint64_t>> sites_;  // call sites looked up so far
};

}  // namespace taut

// What the calls of a communicator are served by: its policy, or the rules of the process, and what is made
// of each of them.
#pragma once

#include <deque>
#include <utility>

#include "comm/codec_cache.hpp"
#include "policy/plan/rules.hpp"
#include "policy/tuning/autotuner.hpp"

namespace taut {

// What calls under one policy share.
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
  // Throws Error when a policy cannot be served here.
  PolicyTable(Rules rules, const std::string& kernels);
  PolicyTable(const PolicyTable&) = delete;

  const Rules& rules() const noexcept { return rules_; }

  // Bit i: the call site is the one that rule i names.
  std::uint64_t sites(const void* address) noexcept;

  // The rule for a call, as far as this rank alone knows it.
  Match match(Call call) noexcept {
    call.sites = sites(call.site);
    return rules_.match(call);
  }

  // Of one of these rules.
  PolicyState& of(const Rule& rule) noexcept {
    return policies_[static_cast<std::size_t>(&rule - rules_.all().data())];
  }

 private:
  Rules rules_;
  std::deque<PolicyState> policies_;                          // of each rule
  std::vector<std::pair<const void*, std::uint64_t>> sites_;  // that were looked up
};

}  // namespace taut

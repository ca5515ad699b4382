// What the calls of a communicator are served by: its policy, or the rules of the process, and what is made
// of each of them.
#pragma once

#include <deque>
#include <utility>

#include "comm/codec_cache.hpp"
#include "policy/experience.hpp"
#include "policy/rules.hpp"

namespace taut {

// What calls under one policy share.
struct Terms {
  Terms(const Policy& asked, const std::string& kernels) : policy(asked), codecs(asked.coding, kernels) {}

  const Policy& policy;
  CandidateTable candidates;
  Experiences experiences;
  CodecCache codecs;
};

class AllTerms {
 public:
  // Throws Error when a policy cannot be served here.
  AllTerms(Rules rules, const std::string& kernels);
  AllTerms(const AllTerms&) = delete;

  const Rules& rules() const noexcept { return rules_; }

  // Bit i: the call site is the one that rule i names.
  std::uint64_t sites(const void* address) noexcept;

  // The rule for a call, as far as this rank alone knows it.
  Match match(Call call) noexcept {
    call.sites = sites(call.site);
    return rules_.match(call);
  }

  // Of one of these rules.
  Terms& of(const Rule& rule) noexcept {
    return terms_[static_cast<std::size_t>(&rule - rules_.all().data())];
  }

 private:
  Rules rules_;
  std::deque<Terms> terms_;                                   // of each rule
  std::vector<std::pair<const void*, std::uint64_t>> sites_;  // that were looked up
};

}  // namespace taut

// How a point-to-point message is coded: what its sender decides alone.
#pragma once

#include "policy/plan/plan.hpp"

namespace taut {

struct MessagePlan {
  Fallback plain = Fallback::none;  // the rest is meant for `none`
  Bound bound;
  std::span<const Candidate> candidates;
  double least_ratio = 0;  // go plain if the sample is below
  std::size_t frames = 1;  // that the values are cut into
};

// `bound` is the policy's, not relative any more; `table` is of this policy. A message is coded once, so that
// the bound is that of each value that arrives.
MessagePlan plan_message(const Policy& policy, std::size_t count, DType type, Bound bound,
                         CandidateTable& table);

}  // namespace taut

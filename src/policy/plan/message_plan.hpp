// Plan of a point-to-point message, which its sender makes alone.
#pragma once

#include "policy/plan/plan.hpp"

namespace taut {

struct MessagePlan {
  Fallback plain = Fallback::none;  // the other members are valid for `none`
  Bound bound;
  std::span<const Candidate> candidates;
  double least_ratio = 0;  // fall back if the sampled ratio is below
  std::size_t frames = 1;  // number of frames for the values
};

// Makes the plan of a message. `bound` is the policy's, no longer relative; `table` belongs to this policy. A
// message is coded once, so the bound holds for each value that arrives.
MessagePlan plan_message(const Policy& policy, std::size_t count, DType type, Bound bound,
                         CandidateTable& table);

}  // namespace taut

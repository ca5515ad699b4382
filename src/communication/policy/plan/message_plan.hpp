// MessagePlan: how one point-to-point message is sent, plain or compressed. The sender decides this alone,
// without the receiver.
#pragma once

#include "communication/policy/plan/plan.hpp"

namespace taut {

struct MessagePlan {
  Fallback fallback = Fallback::none;  // the other members are valid for `none`
  Bound bound;
  std::span<const Coding> candidates;
  double least_ratio = 0;  // fall back if the sampled ratio is below
  std::size_t frames = 1;  // number of frames for the values
};

// Makes the plan of a message of `count` values. `bound`: the policy's bound; a relative one is already
// converted to an absolute one. `table`: the candidates of this policy. A message is coded once, so the bound
// holds for each value that arrives. Integers are coded without loss.
MessagePlan plan_message(const Policy& policy, std::size_t count, DType type, Bound bound,
                         CandidateTable& table);

}  // namespace taut

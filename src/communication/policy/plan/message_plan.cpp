#include "communication/policy/plan/message_plan.hpp"

namespace taut {
namespace {

constexpr std::size_t most_frame_bytes = std::size_t{512} << 20;  // greatest size of the values in one frame

}  // namespace

MessagePlan plan_message(const Policy& policy, std::size_t count, DType type, Bound bound,
                         CandidateTable& table) {
  MessagePlan plan;
  const std::size_t bytes = count * size_of(type);
  plan.fallback = early_fallback(policy, bytes, 2);
  if (plan.fallback != Fallback::none) return plan;
  plan.bound = bound_for(type, bound);
  plan.candidates = table.of(policy.coding, type, plan.bound, Preference::none);
  if (plan.candidates.empty()) {
    plan.fallback = Fallback::unsupported;
    return plan;
  }
  const bool named = policy.coding.codec != nullptr;
  const bool copies = plan.candidates[0].codec->rank(plan.bound.kind) == CodecInfo::last_resort;
  if (copies && !named) plan.fallback = Fallback::no_gain;
  plan.least_ratio = policy.only_if_profitable() ? worthwhile_ratio : 0;
  plan.frames = 1 + bytes / most_frame_bytes;
  return plan;
}

}  // namespace taut

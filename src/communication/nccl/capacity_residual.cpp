// Sums with a residual in capacity mode.
#include <string>

#include "communication/nccl/capacity_mode.hpp"
#include "compressor/gpu/device_kernels.hpp"

namespace taut::nccl {
namespace {

// Returns true if NCCL serves a call with a residual though its policy may have frames of a fixed size.
bool is_left_to_nccl(const Plan& plan) noexcept {
  switch (plan.fallback) {
    case Fallback::off:
    case Fallback::small:
    case Fallback::communicator: return true;
    case Fallback::no_gain: return gpu::has_kernels(plan.candidates[0]);
    default: return false;
  }
}

}  // namespace

// Returns a sum with its residual; nothing if NCCL serves it, on all ranks. Throws Error, on all ranks, if no
// frames of a fixed size serve it.
std::optional<CapacityMode::SlotCall> CapacityMode::plan_with_residual(const NcclCall& call,
                                                                       const CollectiveCall& described,
                                                                       const Rules& rules) {
  const Policy* const policy = match(rules, described);
  if (policy == nullptr || policy->off) return {};
  const Bound bound = policy->coding.bound;
  if (!is_relative(bound)) {
    Plan plan = make_plan(*policy, described, bound, state_of(*policy).candidates, {.on_devices = true});
    if (is_left_to_nccl(plan)) return {};
    plan.by_nodes = plan.by_nodes && described.equal_nodes();
    if (plan.fallback == Fallback::none && gpu::has_kernels(plan.candidates[0])) {
      SlotCall planned = new_call(call, described, *policy, plan);
      planned.residual = {{call.residual, planned.in.count, residual_type(planned.in.type)}};
      if (planned.fixed && fits_frames(described)) return planned;
      if (planned.fixed) throw Error(Status::invalid_count, "a block of the sum has more than 2^30 values");
    }
  }
  throw Error(
      Status::invalid_policy,
      std::string("residual needs frames of a fixed size for ") + info_of(described.data.in.type).name +
          ": set the policy rate:8,codec=zfp (float32, float64; 7 or more) or block:8 (float32, float16, "
          "bfloat16; 8, 6 or 4), without dims=, and in rules with bits=rounded");
}

// Throws Error if the residual of a call is on another GPU than its values, or overlaps them.
void CapacityMode::check_residual_memory(const SlotCall& planned) {
  gpu::Devices& devices = memory_->devices_on(planned.stream);
  if (devices.holding(planned.in.data, planned.residual.data) != planned.device)
    throw Error(Status::invalid_argument, "residual is on another GPU than sendbuff and recvbuff");
  for (const ConstSlice& values : {planned.in, ConstSlice(planned.out)})
    if (overlap(ConstSlice(planned.residual), values))
      throw Error(Status::invalid_argument,
                  "residual overlaps sendbuff or recvbuff: give it memory of its own");
}

// Enqueues a sum with a residual. Returns false if NCCL serves it.
bool CapacityMode::serve_with_residual(const NcclCall& call, const CollectiveCall& described,
                                       const Rules& rules, const Nodes& nodes) {
  std::optional<SlotCall> planned = plan_with_residual(call, described, rules);
  if (!planned) return run_plain(nccl_, call, transport_.size()), false;
  enqueue(std::move(*planned), nodes);
  return true;
}

}  // namespace taut::nccl

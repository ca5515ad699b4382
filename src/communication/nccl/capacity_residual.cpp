// Sums with a residual in capacity mode: their plan, and the results of their decoders.
#include <algorithm>
#include <memory>
#include <span>
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

// Memory that the kernels of a call use.
struct Kept {
  std::shared_ptr<gpu::Device> device;
  std::shared_ptr<gpu::MemoryBlock> results;
};

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
      if (planned.codec->contract().fixed_size) return planned;
    }
  }
  throw Error(
      Status::invalid_policy,
      std::string("residual needs frames of a fixed size for ") + info_of(described.data.in.type).name +
          ": set the policy rate:8,codec=zfp (float32, float64; 7 or more) or block:8 (float32, float16, "
          "bfloat16; 8, 6 or 4), without dims=, and in rules with bits=rounded");
}

// Serves a sum with a residual. Its memory is kept until its work is done: the program need not settle it,
// and may use another stream or policy next. Returns false if NCCL serves it.
bool CapacityMode::serve_with_residual(const NcclCall& call, const CollectiveCall& described,
                                       const Rules& rules, const Nodes& nodes) {
  std::optional<SlotCall> planned = plan_with_residual(call, described, rules);
  if (!planned) return run_plain(nccl_, call, transport_.size()), false;
  find_device(*planned);
  if (devices_.holding(planned->in.data, call.residual) != planned->device)
    throw Error(Status::invalid_argument, "residual is on another GPU than sendbuff and recvbuff");
  or_abort_node([&] {
    planned->results = residual_results();
    auto kept = std::make_shared<Kept>(Kept{planned->device, residual_results_});
    try {
      place(*planned, nodes);
      enqueue(*planned, false);
    } catch (...) {
      gpu::free_after(services_, call.stream, std::move(kept));
      throw;
    }
    gpu::free_after(services_, call.stream, std::move(kept));
  });
  return true;
}

// Returns the results of all decoders of calls with a residual. Throws Error if one has failed so far.
TAUT_Cuda_result* CapacityMode::residual_results() {
  const std::size_t n = 2 * static_cast<std::size_t>(transport_.size());
  if (residual_results_ == nullptr) {
    auto memory = std::make_shared<gpu::MemoryBlock>(services_, gpu::MemoryKind::pinned);
    std::byte* const results = memory->reserve(n * sizeof(TAUT_Cuda_result));
    std::uninitialized_fill_n(reinterpret_cast<TAUT_Cuda_result*>(results), n, TAUT_Cuda_result{});
    residual_results_ = std::move(memory);
  }
  const std::span all(reinterpret_cast<TAUT_Cuda_result*>(residual_results_->data()), n);
  for (const TAUT_Cuda_result& result : all)
    if (const std::uint32_t status = __atomic_load_n(&result.status, __ATOMIC_RELAXED); status != 0) {
      std::ranges::fill(all, TAUT_Cuda_result{});
      throw Error(static_cast<Status>(status),
                  "a frame of an earlier call with a residual could not be decoded: pass the same count and "
                  "datatype on all ranks, and set the residuals to 0");
    }
  return all.data();
}

}  // namespace taut::nccl

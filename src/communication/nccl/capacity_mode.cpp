#include "communication/nccl/capacity_mode.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "communication/gpu/device_values.hpp"
#include "communication/nccl/capacity_run.hpp"
#include "compressor/base/options.hpp"
#include "compressor/gpu/device_kernels.hpp"

namespace taut::nccl {
namespace {

bool is_served(const CollectiveCall& call) noexcept {
  switch (call.collective) {
    case Collective::allreduce:
    case Collective::reduce_scatter:
    case Collective::allgather:
    case Collective::bcast: return true;
    default: return false;
  }
}

// Returns the ranks that own blocks: of a broadcast the root, otherwise all.
std::vector<int> owners(Collective collective, int root, int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return collective == Collective::bcast ? std::vector<int>{root} : all;
}

}  // namespace

CapacityMode::~CapacityMode() {
  const auto P = static_cast<std::size_t>(transport_.size());
  const auto lacks = [&](const Call& call) {
    return std::ranges::any_of(call.block_results(P), [](const auto& result) { return result.status != 0; });
  };
  if (const auto calls = std::ranges::count_if(unsettled_, lacks); calls > 0)
    std::fprintf(
        stderr,
        "taut: rank %d: results of %td calls are missing: TAUT_Nccl_comm_settle was not called after "
        "them, or has failed\n",
        transport_.rank(), calls);
}

// Returns the call with its coding; nothing if it is not served in capacity mode, on any rank.
std::optional<CapacityMode::Call> CapacityMode::plan_call(const NcclCall& call,
                                                          const CollectiveCall& described,
                                                          const Rules& rules) {
  taut::Call known = described;
  known.ranks = transport_.size();
  const Policy* const policy = match(rules, known);
  if (ratio_ == 0 || policy == nullptr || !is_served(described) || is_relative(policy->coding.bound))
    return {};
  PolicyState& state = states_.try_emplace(policy, *policy, options().kernels).first->second;
  const Plan plan = make_plan(*policy, known, policy->coding.bound, state.candidates);
  if (plan.fallback != Fallback::none) return {};
  const Coding coding = plan.candidates[0].with(plan.bound);
  if (!api::has_kernels(coding)) return {};
  const api::DeviceCodec& kernels = api::kernels_of(services_, coding);
  const std::shared_ptr<const Codec> codec = state.codecs.of(coding, plan.bound);
  const bool by_frames = plan.arithmetic == Arithmetic::frames && kernels.sum != nullptr && !described.mean;
  if (reduces(known.collective) && !by_frames && !codec->contract().fixed_size) return {};
  if (kernels.together == nullptr || !kernels.together(coding)) return {};
  ConstSlice in = described.data.in;
  if (call.collective == Collective::bcast) in = {{call.sendbuff, call.count, described.type}};
  return Call{call.collective, in,           described.data.out, call.root, policy->same_bits,
              call.stream,     described.op, described.mean,     by_frames, coding,
              codec,           nullptr};
}

bool CapacityMode::serve(const NcclCall& call, const CollectiveCall& described, const Rules& rules) {
  std::optional<Call> planned = this->plan_call(call, described, rules);
  if (!planned) return false;
  devices_.set_stream(call.stream);
  planned->device = devices_.holding(call.sendbuff, call.recvbuff);
  if (planned->device == nullptr || !gpu::suits_kernels(planned->in) || !gpu::suits_kernels(planned->out))
    throw Error(Status::invalid_argument, "sendbuff and recvbuff are not aligned values on one GPU");
  planned->results = new_results(*planned);
  ++calls_;
  Call& kept = unsettled_.emplace_back(std::move(*planned));
  run(kept, owners(call.collective, call.root, transport_.size()), ratio_);
  return true;
}

// Returns a result for each block and operand. Those that no decoder writes count as success: this rank does
// not get them.
Buffer CapacityMode::new_results(const Call& call) const {
  const std::size_t n = 2 * static_cast<std::size_t>(transport_.size());
  Buffer results = call.device->pinned().scratch(n * sizeof(TAUT_Cuda_result));
  std::uninitialized_fill_n(reinterpret_cast<TAUT_Cuda_result*>(results.data()), n, TAUT_Cuda_result{});
  return results;
}

void CapacityMode::run(Call& call, std::span<const int> blocks, double ratio) {
  Run run(*this, call, blocks, ratio);
  if (reduces(call.collective) && !call.by_frames) return run.reduce_values();
  if (reduces(call.collective))
    run.reduce();
  else
    run.encode_own();
  if (call.collective == Collective::reduce_scatter)
    run.decode_own();
  else
    run.share();
}

// Returns for each open call and block if its decoder failed on any rank.
std::vector<bool> CapacityMode::failed_somewhere() {
  const auto P = static_cast<std::size_t>(transport_.size());
  std::vector<std::byte> mine(unsettled_.size() * P);
  for (std::size_t c = 0; c < unsettled_.size(); ++c)
    for (std::size_t b = 0; b < P; ++b)
      mine[c * P + b] = std::byte{unsettled_[c].block_results(P)[b].status != 0};
  const std::byte any{std::ranges::find(mine, std::byte{1}) != mine.end()};
  const std::vector<std::byte> anywhere = transport_.allgather(std::span(&any, 1));
  std::vector<bool> failed(mine.size());
  if (std::ranges::find(anywhere, std::byte{1}) == anywhere.end()) return failed;
  const std::vector<std::byte> all = transport_.allgather(mine);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != std::byte{}) failed[i % mine.size()] = true;
  return failed;
}

std::size_t CapacityMode::settle(void* stream) {
  const auto wait_for_all = [&] {
    for (const Call& call : unsettled_) {
      transport_.begin_call(call.stream);
      transport_.wait();
    }
    transport_.begin_call(stream);
  };
  const auto P = static_cast<std::size_t>(transport_.size());
  wait_for_all();
  const std::vector<bool> failed = failed_somewhere();
  std::size_t repeated = 0;
  for (std::size_t c = 0; c < unsettled_.size(); ++c) {
    std::vector<int> blocks;
    for (std::size_t b = 0; b < P; ++b)
      if (failed[c * P + b]) blocks.push_back(static_cast<int>(b));
    if (blocks.empty()) continue;
    unsettled_[c].results = new_results(unsettled_[c]);
    run(unsettled_[c], blocks, 0);
    repeated += blocks.size();
  }
  wait_for_all();
  const std::vector<Call> settled = std::exchange(unsettled_, {});
  for (const Call& call : settled)
    for (const TAUT_Cuda_result& result : call.all_results(P))
      if (result.status != 0)
        throw Error(static_cast<Status>(result.status), describe(static_cast<Status>(result.status)));
  return repeated;
}

}  // namespace taut::nccl

#include "communication/nccl/capacity_mode.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "communication/gpu/device_values.hpp"
#include "communication/nccl/capacity_rail.hpp"
#include "communication/nccl/capacity_run.hpp"
#include "communication/nccl/staged_call.hpp"
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

std::vector<int> all_ranks(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Returns true if the values that this rank owns in a data movement are already where its results go.
bool is_own_in_place(const NcclCall& call, const CollectiveCall& described, int rank) noexcept {
  if (reduces(call.collective)) return false;
  const Slice out = described.data.out;
  if (call.collective == Collective::bcast) return rank == call.root && call.sendbuff == out.data;
  const auto ranks = static_cast<std::size_t>(described.ranks);
  return call.sendbuff == block(out, static_cast<std::size_t>(rank), ranks).data;
}

}  // namespace

CapacityMode::~CapacityMode() {
  const auto lacks = [](const SlotCall& call) {
    return std::ranges::any_of(call.block_results(), [](const auto& result) { return result.status != 0; });
  };
  if (const auto calls = std::ranges::count_if(unsettled_, lacks); calls > 0)
    std::fprintf(
        stderr,
        "taut: rank %d: results of %td calls are missing: TAUT_Nccl_comm_settle was not called after "
        "them, or has failed\n",
        transport_.rank(), calls);
}

// Returns the call with its coding; nothing if it is not served in capacity mode, on any rank.
std::optional<CapacityMode::SlotCall> CapacityMode::plan_call(const NcclCall& call,
                                                              const CollectiveCall& described,
                                                              const Rules& rules) {
  const Policy* const policy = match(rules, described);
  if (policy == nullptr || policy->off || !is_served(described) || is_relative(policy->coding.bound))
    return {};
  const double ratio = ratio_ != 0 ? ratio_ : policy->slots;
  if (ratio == 0) return {};
  PolicyState& state = state_of(*policy);
  const Plan plan =
      make_plan(*policy, described, policy->coding.bound, state.candidates, {.on_devices = true});
  if (plan.fallback != Fallback::none || (plan.by_nodes && !described.equal_nodes())) return {};
  if (!gpu::has_kernels(plan.candidates[0])) return {};
  SlotCall planned = new_call(call, described, *policy, plan);
  const gpu::DeviceCodec& kernels = gpu::kernels_of(services_, planned.coding);
  planned.by_frames = plan.arithmetic == Arithmetic::frames && kernels.sum != nullptr && !described.mean;
  const bool fixed = planned.codec->contract().fixed_size;
  if (reduces(described.collective) && !planned.by_frames && !fixed) return {};
  if (kernels.together == nullptr || !kernels.together(planned.coding)) return {};
  const bool compared = ratio_ == 0 && policy->only_if_profitable();
  if (compared && !fixed && ratio < plan.min_ratio) return {};
  planned.ratio = ratio;
  planned.trial = compared ? &trials_[{policy, described.kind()}] : nullptr;
  return planned;
}

CapacityMode::SlotCall CapacityMode::new_call(const NcclCall& call, const CollectiveCall& described,
                                              const Policy& policy, const Plan& plan) {
  const Coding coding = plan.candidates[0].with_bound(plan.bound);
  const bool sends = described.data.in.count != 0;  // all ranks but those that receive a broadcast
  return SlotCall{.collective = call.collective,
                  .in = sends ? ConstSlice(described.data.in) : ConstSlice(described.data.out),
                  .out = described.data.out,
                  .root = call.root,
                  .keeps_own = !policy.same_bits && is_own_in_place(call, described, transport_.rank()),
                  .stream = call.stream,
                  .op = described.op,
                  .mean = described.mean,
                  .by_frames = false,
                  .ratio = 1,
                  .trial = nullptr,
                  .residual = {},
                  .by_nodes = plan.by_nodes,
                  .coding = coding,
                  .codec = state_of(policy).codecs.find_or_make(coding, plan.bound),
                  .device = nullptr,
                  .ranks = described.ranks,
                  .peers = all_ranks(described.ranks),
                  .my_index = transport_.rank(),
                  .first_block = 0};
}

PolicyState& CapacityMode::state_of(const Policy& policy) {
  return states_.try_emplace(&policy, policy, options().kernels).first->second;
}

template <class Work>
auto CapacityMode::or_abort_node(const Work& work) {
  try {
    return work();
  } catch (...) {
    transport_.abort_node();
    throw;
  }
}

bool CapacityMode::serve(const NcclCall& call, const CollectiveCall& described, const Rules& rules,
                         const Nodes& nodes, const std::function<bool()>& exact) {
  if (call.residual != nullptr) return serve_with_residual(call, described, rules, nodes);
  std::optional<SlotCall> planned = plan_call(call, described, rules);
  if (!planned) return exact();
  if (ratio_ != 0) return enqueue(std::move(*planned), nodes), true;
  SlotTrial* const trial = planned->trial;
  const std::uint64_t begin = clock_now();
  const auto seconds_so_far = [&] { return static_cast<double>(clock_now() - begin) * 1e-9; };
  if (trial == nullptr || trial->next()) {
    const SlotTimes own = trial == nullptr ? SlotTimes{} : trial->own();
    const SlotTimes agreed = serve_and_settle(std::move(*planned), call, described, rules, nodes, own);
    if (trial == nullptr) return true;
    trial->update(agreed);
    trial->record_slots(seconds_so_far(), described.bytes);
    return true;
  }
  const bool compressed = exact();
  if (!trial->is_timed()) return compressed;
  transport_.begin_call(call.stream);  // plain calls of NCCL are not complete yet
  transport_.wait();
  trial->record_exact(seconds_so_far(), described.bytes);
  return compressed;
}

// Serves a call in slots, and settles it. Returns the times that the ranks agreed on.
SlotTimes CapacityMode::serve_and_settle(SlotCall planned, const NcclCall& call,
                                         const CollectiveCall& described, const Rules& rules,
                                         const Nodes& nodes, const SlotTimes& times) {
  const std::size_t unsettled = unsettled_.size();
  std::shared_ptr<StagedCall> staged;
  try {
    or_abort_node([&] {
      if (kernels_access(planned, described)) return;
      staged = std::make_shared<StagedCall>(services_, call, described);
      planned = *plan_call(staged->call(), staged->described(), rules);
    });
    enqueue(std::move(planned), nodes);
    const SlotTimes agreed = settle_all(call.stream, times).times;
    if (staged == nullptr) return agreed;
    staged->fetch();
    transport_.wait();
    return agreed;
  } catch (...) {
    abandon_from(unsettled, call.stream);
    gpu::free_after(services_, call.stream, std::move(staged));
    throw;
  }
}

// Abandons the calls after the first `unsettled` ones. Work on the stream may still use their memory.
void CapacityMode::abandon_from(std::size_t unsettled, void* stream) {
  if (unsettled_.size() <= unsettled) return;
  const auto first = unsettled_.begin() + static_cast<std::ptrdiff_t>(unsettled);
  auto abandoned = std::make_shared<std::vector<SlotCall>>(std::move_iterator(first),
                                                           std::move_iterator(unsettled_.end()));
  unsettled_.erase(first, unsettled_.end());
  gpu::free_after(services_, stream, std::move(abandoned));
}

// Returns true if kernels can access all values of a call.
bool CapacityMode::kernels_access(const SlotCall& planned, const CollectiveCall& described) {
  devices_.set_stream(planned.stream);
  return described.staging == nullptr && gpu::suits_kernels(planned.in) && gpu::suits_kernels(planned.out) &&
         devices_.holding(planned.in.data, planned.out.data) != nullptr;
}

// Enqueues a call in slots.
void CapacityMode::enqueue(SlotCall planned, const Nodes& nodes) {
  find_device(planned);
  or_abort_node([&] {
    if (planned.by_nodes) {
      transport_.open_node();
      Rail(planned, nodes, transport_.rank()).convert();
    }
    planned.results = new_results(planned);
    ++calls_;
    SlotCall& kept = unsettled_.emplace_back(std::move(planned));
    Run(*this, kept, {}, kept.ratio).do_on_node(kept.before);
    const bool of_root = kept.collective == Collective::bcast;
    run(kept, of_root ? std::vector{kept.root} : all_ranks(static_cast<int>(kept.peers.size())), kept.ratio);
  });
}

// Finds the GPU of a call's values. Throws Error if there is none, or if its kernels cannot access them.
void CapacityMode::find_device(SlotCall& planned) {
  devices_.set_stream(planned.stream);
  planned.device = devices_.holding(planned.in.data, planned.out.data);
  if (planned.device == nullptr || !gpu::suits_kernels(planned.in) || !gpu::suits_kernels(planned.out))
    throw Error(Status::invalid_argument, "sendbuff and recvbuff are not aligned values on one GPU");
}

// Returns memory for the result of each block and operand. Results that no decoder writes count as success:
// this rank does not get these values.
Buffer CapacityMode::new_results(const SlotCall& call) const {
  const std::size_t n = 2 * call.peers.size();
  Buffer results = call.device->pinned().scratch(n * sizeof(TAUT_Cuda_result));
  std::uninitialized_fill_n(reinterpret_cast<TAUT_Cuda_result*>(results.data()), n, TAUT_Cuda_result{});
  return results;
}

void CapacityMode::run(SlotCall& call, std::span<const int> blocks, double ratio) {
  Run run(*this, call, blocks, ratio);
  if (!blocks.empty()) exchange_frames(run, call);
  run.do_on_node(call.after);
}

void CapacityMode::exchange_frames(Run& run, const SlotCall& call) {
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

// Returns 1 for each unsettled call and block of which a decoder failed on any rank, else 0. The decoder of
// an operand counts for the block of the rank that combines it. Sets `times` to the longest of all ranks.
std::vector<char> CapacityMode::failed_somewhere(SlotTimes& times) {
  const auto P = static_cast<std::size_t>(transport_.size());
  std::vector<std::byte> mine(unsettled_.size() * P);
  for (std::size_t c = 0; c < unsettled_.size(); ++c) {
    const SlotCall& call = unsettled_[c];
    const auto note = [&](std::size_t block, const TAUT_Cuda_result& result) {
      if (result.status != 0) mine[c * P + call.first_block + block] = std::byte{1};
    };
    for (std::size_t b = 0; b < call.peers.size(); ++b) {
      note(b, call.block_results()[b]);
      note(static_cast<std::size_t>(call.my_index), call.operand_results()[b]);
    }
  }
  const bool any = std::ranges::find(mine, std::byte{1}) != mine.end();
  bool anywhere = false;
  for (const Agreement& other : transport_.allgather_value(Agreement{any, times})) {
    anywhere = anywhere || other.failed != 0;
    times.exact = std::max(times.exact, other.times.exact);
    times.slots = std::max(times.slots, other.times.slots);
  }
  std::vector<char> failed(mine.size());
  if (!anywhere) return failed;
  const std::vector<std::byte> all = transport_.allgather(mine);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != std::byte{}) failed[i % mine.size()] = 1;
  return failed;
}

std::size_t CapacityMode::settle(void* stream) { return settle_all(stream, {}).repeated; }

// Settles all calls. Throws Error, on all ranks, if a result is missing; the ranks may make further calls.
CapacityMode::Settled CapacityMode::settle_all(void* stream, const SlotTimes& times) {
  const Settled settled = or_abort_node([&] { return settle_now(stream, times); });
  if (settled.status != Status::ok) throw Error(settled.status, describe(settled.status));
  return settled;
}

CapacityMode::Settled CapacityMode::settle_now(void* stream, const SlotTimes& times) {
  const auto wait_for_all = [&] {
    for (const SlotCall& call : unsettled_) {
      transport_.begin_call(call.stream);
      transport_.wait();
    }
    transport_.begin_call(stream);
  };
  const auto P = static_cast<std::size_t>(transport_.size());
  Settled outcome{.times = times};
  wait_for_all();
  const std::vector<char> failed_blocks = failed_somewhere(outcome.times);
  for (std::size_t c = 0; c < unsettled_.size(); ++c) {
    SlotCall& call = unsettled_[c];
    const auto of_call = std::span(failed_blocks).subspan(c * P, P);
    const auto all = static_cast<std::size_t>(std::ranges::count(of_call, 1));
    if (all == 0) continue;
    outcome.repeated += all;
    if (reduces(call.collective) && !call.by_frames) continue;  // results may have replaced operands
    std::vector<int> blocks;
    for (std::size_t b = 0; b < call.peers.size(); ++b)
      if (of_call[call.first_block + b]) blocks.push_back(static_cast<int>(b));
    call.results = new_results(call);
    run(call, blocks, 0);
  }
  if (outcome.repeated > 0) {
    wait_for_all();
    const std::vector<char> still = failed_somewhere(outcome.times);
    if (std::ranges::count(still, 1) > 0) outcome.status = Status::peer_failed;
  }
  for (const SlotCall& call : std::exchange(unsettled_, {}))
    for (const TAUT_Cuda_result& result : call.all_results())
      if (result.status != 0) outcome.status = static_cast<Status>(result.status);
  return outcome;
}

}  // namespace taut::nccl

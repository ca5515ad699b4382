#include "communication/nccl/capacity_mode.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "communication/gpu/device_values.hpp"
#include "communication/nccl/capacity_rail.hpp"
#include "communication/nccl/capacity_run.hpp"
#include "communication/nccl/staged_call.hpp"
#include "compressor/base/guarded.hpp"
#include "compressor/base/options.hpp"
#include "compressor/frame/frame.hpp"
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

// Blocks of a call by nodes are not longer.
bool CapacityMode::fits_frames(const CollectiveCall& call) noexcept {
  const Slice& out = call.data.out;
  const bool one_block =
      call.collective == Collective::bcast || call.collective == Collective::reduce_scatter;
  const auto blocks = static_cast<std::size_t>(one_block ? 1 : call.ranks);
  return block(out, 0, blocks).components().count <= max_frame_values;
}

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
  struct Rest {
    std::shared_ptr<SlotMemory> memory;
    std::shared_ptr<LateFailure> late_failure;
    std::vector<SlotCall> unsettled, abandoned;
  };
  guarded([&] {
    const gpu::CurrentDevice current(services_, transport_.device());
    const auto rest =
        std::make_shared<Rest>(memory_, late_failure_, std::move(unsettled_), std::move(abandoned_));
    memory_->for_each_end([&](std::unique_ptr<gpu::StreamPoint>& end) {
      if (!end->ready()) gpu::free_after(services_, std::move(end), rest);
    });
  });
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
  if (!gpu::has_kernels(plan.candidates[0]) || !fits_frames(described)) return {};
  SlotCall planned = new_call(call, described, *policy, plan);
  const gpu::DeviceCodec& kernels = gpu::kernels_of(services_, planned.coding);
  planned.by_frames =
      !planned.fixed && plan.arithmetic == Arithmetic::frames && kernels.sum != nullptr && !described.mean;
  if (reduces(described.collective) && !planned.by_frames && !planned.fixed) return {};
  // Frames that take a launch each, those with lags, gain nothing in slots.
  if (kernels.together == nullptr || !kernels.together(planned.coding)) return {};
  const bool is_tried_beside_exact_sizes = ratio_ == 0 && policy->only_if_profitable();
  if (is_tried_beside_exact_sizes && !planned.fixed && ratio < plan.min_ratio) return {};
  planned.ratio = ratio;
  planned.trial = is_tried_beside_exact_sizes ? &trials_[{policy, described.kind()}] : nullptr;
  return planned;
}

CapacityMode::SlotCall CapacityMode::new_call(const NcclCall& call, const CollectiveCall& described,
                                              const Policy& policy, const Plan& plan) {
  const Coding coding = plan.candidates[0].with_bound(plan.bound);
  std::shared_ptr<const Codec> codec = state_of(policy).codecs.find_or_make(coding, plan.bound);
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
                  .fixed = codec->contract().fixed_size,
                  .ratio = 1,
                  .trial = nullptr,
                  .residual = {},
                  .by_nodes = plan.by_nodes,
                  .coding = coding,
                  .codec = std::move(codec),
                  .device = nullptr,
                  .place = nullptr,
                  .captured = false,
                  .ranks = described.ranks,
                  .peers = all_ranks(described.ranks),
                  .my_index = transport_.rank(),
                  .first_block = 0};
}

PolicyState& CapacityMode::state_of(const Policy& policy) {
  return states_.try_emplace(&policy, policy, options().kernels).first->second;
}

bool CapacityMode::serve(const NcclCall& call, const CollectiveCall& described, const Rules& rules,
                         const Nodes& nodes, const std::function<bool()>& exact) {
  if (call.residual != nullptr) return serve_with_residual(call, described, rules, nodes);
  if (is_captured(services_, call.stream)) return serve_captured(call, described, rules, nodes);
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

// Serves a call in a captured stream, by NCCL or in slots that every frame fits.
bool CapacityMode::serve_captured(const NcclCall& call, const CollectiveCall& described, const Rules& rules,
                                  const Nodes& nodes) {
  const Policy* const policy = match(rules, described);
  const auto plain = [&] {
    if (policy == nullptr || early_fallback(*policy, described.bytes, described.ranks) != Fallback::none)
      return true;
    const Bound bound = policy->coding.bound;
    CandidateTable& table = state_of(*policy).candidates;
    return !is_relative(bound) &&
           make_plan(*policy, described, bound, table, {.on_devices = true}).fallback != Fallback::none;
  };
  if (plain()) return run_plain(nccl_, call, transport_.size()), false;
  std::optional<SlotCall> planned = ratio_ != 0 ? plan_call(call, described, rules) : std::nullopt;
  if (!planned || !planned->fixed)
    throw Error(Status::invalid_argument,
                "the stream is captured in a graph, which cannot hold a call that the ranks agree on or "
                "repeat: give it frames of a fixed size (block:8 and TAUT_Nccl_comm_set_capacity, or a "
                "residual), or the policy off");
  enqueue(std::move(*planned), nodes);
  return true;
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
    const SlotTimes agreed = settle_own(unsettled, call.stream, times);
    if (staged == nullptr) return agreed;
    staged->fetch();
    transport_.wait();
    return agreed;
  } catch (...) {
    abandon_from(unsettled);
    gpu::free_after(services_, call.stream, std::move(staged));
    throw;
  }
}

// Abandons the calls after the first `unsettled` ones. Work on their streams may still write their results;
// their other memory is used again in the order of the streams.
void CapacityMode::abandon_from(std::size_t unsettled) {
  if (unsettled_.size() <= unsettled) return;
  const auto first = unsettled_.begin() + static_cast<std::ptrdiff_t>(unsettled);
  std::for_each(first, unsettled_.end(), [](SlotCall& call) { call.memory.clear(); });
  std::move(first, unsettled_.end(), std::back_inserter(abandoned_));
  unsettled_.erase(first, unsettled_.end());
}

// Returns true if kernels can access all values of a call.
bool CapacityMode::kernels_access(const SlotCall& planned, const CollectiveCall& described) {
  return described.staging == nullptr && device_of(planned) != nullptr;
}

// Returns the device of a call; null unless all values are on the communicator's GPU, and kernels can access
// them.
std::shared_ptr<gpu::Device> CapacityMode::device_of(const SlotCall& planned) {
  if (!gpu::suits_kernels(planned.in) || !gpu::suits_kernels(planned.out)) return nullptr;
  auto device = memory_->devices_on(planned.stream).holding(planned.in.data, planned.out.data);
  return device != nullptr && device->number() == transport_.device() ? device : nullptr;
}

// Enqueues a call in slots. A capture that fails has enqueued nothing that other ranks wait for. A call by
// nodes whose buffers are refused is missing on the node, where sums would pair with those of later calls.
void CapacityMode::enqueue(SlotCall planned, const Nodes& nodes) {
  planned.captured = is_captured(services_, planned.stream);
  const bool flat = !planned.by_nodes;
  if (planned.captured || flat) find_device(planned);
  if (planned.captured) return enqueue_now(std::move(planned), nodes);
  or_abort_node([&] {
    if (!flat) find_device(planned);
    enqueue_now(std::move(planned), nodes);
  });
}

void CapacityMode::enqueue_now(SlotCall planned, const Nodes& nodes) {
  if (planned.by_nodes) {
    if (planned.captured && !transport_.node().is_open())
      throw Error(Status::invalid_argument,
                  std::string("the call by nodes needs a communicator of the node: ") + before_capture);
    transport_.open_node();
    Rail(planned, nodes, transport_.rank()).convert();
  }
  if (!planned.fixed) planned.results = new_results(planned);
  ++calls_;
  SlotCall& call = planned.fixed ? planned : unsettled_.emplace_back(std::move(planned));
  const EndOfCall end(*memory_, call.stream, call.captured);
  Run(*this, call, {}, call.ratio).do_on_node(call.before);
  const bool of_root = call.collective == Collective::bcast;
  run(call, of_root ? std::vector{call.root} : all_ranks(static_cast<int>(call.peers.size())), call.ratio);
}

// Finds the GPU of a call's values, and the place of its scratch memory. Throws Error if there is none, or if
// its kernels cannot access them.
void CapacityMode::find_device(SlotCall& planned) {
  if (!planned.captured) memory_->begin_call(planned.stream);
  planned.device = device_of(planned);
  if (planned.device == nullptr)
    throw Error(Status::invalid_argument,
                "sendbuff and recvbuff are not aligned values on the communicator's GPU");
  if (planned.residual.data != nullptr) check_residual_memory(planned);
  planned.place = &planned.device->plain();
  if (!planned.captured) return;
  unsigned long long capture = 0;
  gpu::check(services_, services_.capture_number(planned.stream, &capture));
  planned.place = &memory_->of_graph(planned.stream, capture);
}

// Returns memory for the result of each block. Results that no decoder writes count as success: this rank
// does not get these values.
Buffer CapacityMode::new_results(const SlotCall& call) const {
  const std::size_t n = call.peers.size();
  Buffer results = scratch_at_once(call.device->pinned(), n * sizeof(TAUT_Cuda_result));
  std::uninitialized_fill_n(reinterpret_cast<TAUT_Cuda_result*>(results.data()), n, TAUT_Cuda_result{});
  return results;
}

void CapacityMode::run(SlotCall& call, std::span<const int> blocks, double ratio) {
  call.enqueued = false;
  Run run(*this, call, blocks, ratio);
  if (!blocks.empty()) exchange_frames(run, call);
  run.do_on_node(call.after);
  call.enqueued = true;
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

}  // namespace taut::nccl

#include "communication/nccl/capacity_mode.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "communication/gpu/device_values.hpp"
#include "communication/nccl/capacity_rail.hpp"
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
  const auto lacks = [](const Call& call) {
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
std::optional<CapacityMode::Call> CapacityMode::plan_call(const NcclCall& call,
                                                          const CollectiveCall& described, const Rules& rules,
                                                          bool& by_nodes) {
  const taut::Call& known = described;
  const Policy* const policy = match(rules, known);
  if (ratio_ == 0 || policy == nullptr || !is_served(described) || is_relative(policy->coding.bound))
    return {};
  PolicyState& state = states_.try_emplace(policy, *policy, options().kernels).first->second;
  const Plan plan = make_plan(*policy, known, policy->coding.bound, state.candidates, {.on_devices = true});
  by_nodes = plan.by_nodes;
  if (plan.fallback != Fallback::none || (by_nodes && !known.equal_nodes())) return {};
  const Coding coding = plan.candidates[0].with(plan.bound);
  if (!gpu::has_kernels(coding)) return {};
  const gpu::DeviceCodec& kernels = gpu::kernels_of(services_, coding);
  const std::shared_ptr<const Codec> codec = state.codecs.of(coding, plan.bound);
  const bool by_frames = plan.arithmetic == Arithmetic::frames && kernels.sum != nullptr && !described.mean;
  if (reduces(known.collective) && !by_frames && !codec->contract().fixed_size) return {};
  if (kernels.together == nullptr || !kernels.together(coding)) return {};
  ConstSlice in = described.data.in;
  if (call.collective == Collective::bcast) in = {{call.sendbuff, call.count, described.type}};
  return Call{.collective = call.collective,
              .in = in,
              .out = described.data.out,
              .root = call.root,
              .keeps_own = !policy->same_bits && is_own_in_place(call, described, transport_.rank()),
              .stream = call.stream,
              .op = described.op,
              .mean = described.mean,
              .by_frames = by_frames,
              .coding = coding,
              .codec = codec,
              .device = nullptr,
              .ranks = known.ranks,
              .peers = all_ranks(known.ranks),
              .me = transport_.rank(),
              .first_block = 0};
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
                         const Nodes& nodes) {
  bool by_nodes = false;
  std::optional<Call> planned = plan_call(call, described, rules, by_nodes);
  if (!planned) return false;
  devices_.set_stream(call.stream);
  planned->device = devices_.holding(call.sendbuff, call.recvbuff);
  if (planned->device == nullptr || !gpu::suits_kernels(planned->in) || !gpu::suits_kernels(planned->out))
    throw Error(Status::invalid_argument, "sendbuff and recvbuff are not aligned values on one GPU");
  or_abort_node([&] {
    if (by_nodes) {
      transport_.open_node();
      Rail(*planned, nodes, transport_.rank()).convert();
    }
    planned->results = new_results(*planned);
    ++calls_;
    Call& kept = unsettled_.emplace_back(std::move(*planned));
    Run(*this, kept, {}, ratio_).do_on_node(kept.before);
    const bool of_root = call.collective == Collective::bcast;
    run(kept, of_root ? std::vector{kept.root} : all_ranks(static_cast<int>(kept.peers.size())), ratio_);
  });
  return true;
}

// Returns a result for each block and operand. Those that no decoder writes count as success: this rank does
// not get them.
Buffer CapacityMode::new_results(const Call& call) const {
  const std::size_t n = 2 * call.peers.size();
  Buffer results = call.device->pinned().scratch(n * sizeof(TAUT_Cuda_result));
  std::uninitialized_fill_n(reinterpret_cast<TAUT_Cuda_result*>(results.data()), n, TAUT_Cuda_result{});
  return results;
}

void CapacityMode::run(Call& call, std::span<const int> blocks, double ratio) {
  Run run(*this, call, blocks, ratio);
  if (!blocks.empty()) exchange_frames(run, call);
  run.do_on_node(call.after);
}

void CapacityMode::exchange_frames(Run& run, const Call& call) {
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
std::vector<char> CapacityMode::failed_somewhere() {
  const auto P = static_cast<std::size_t>(transport_.size());
  std::vector<std::byte> mine(unsettled_.size() * P);
  for (std::size_t c = 0; c < unsettled_.size(); ++c)
    for (std::size_t b = 0; b < unsettled_[c].peers.size(); ++b)
      mine[c * P + unsettled_[c].first_block + b] = std::byte{unsettled_[c].block_results()[b].status != 0};
  const std::byte any{std::ranges::find(mine, std::byte{1}) != mine.end()};
  const std::vector<std::byte> anywhere = transport_.allgather(std::span(&any, 1));
  std::vector<char> failed(mine.size());
  if (std::ranges::find(anywhere, std::byte{1}) == anywhere.end()) return failed;
  const std::vector<std::byte> all = transport_.allgather(mine);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != std::byte{}) failed[i % mine.size()] = 1;
  return failed;
}

std::size_t CapacityMode::settle(void* stream) {
  return or_abort_node([&] { return settle_now(stream); });
}

std::size_t CapacityMode::settle_now(void* stream) {
  const auto wait_for_all = [&] {
    for (const Call& call : unsettled_) {
      transport_.begin_call(call.stream);
      transport_.wait();
    }
    transport_.begin_call(stream);
  };
  const auto P = static_cast<std::size_t>(transport_.size());
  wait_for_all();
  const std::vector<char> failed_blocks = failed_somewhere();
  std::size_t repeated = 0;
  for (std::size_t c = 0; c < unsettled_.size(); ++c) {
    Call& call = unsettled_[c];
    const auto of_call = std::span(failed_blocks).subspan(c * P, P);
    const auto all = static_cast<std::size_t>(std::ranges::count(of_call, 1));
    if (all == 0) continue;
    std::vector<int> blocks;
    for (std::size_t b = 0; b < call.peers.size(); ++b)
      if (of_call[call.first_block + b]) blocks.push_back(static_cast<int>(b));
    call.results = new_results(call);
    run(call, blocks, 0);
    repeated += all;
  }
  wait_for_all();
  const std::vector<char> still = repeated == 0 ? std::vector<char>() : failed_somewhere();
  const std::vector<Call> settled = std::exchange(unsettled_, {});
  for (const Call& call : settled)
    for (const TAUT_Cuda_result& result : call.all_results())
      if (result.status != 0)
        throw Error(static_cast<Status>(result.status), describe(static_cast<Status>(result.status)));
  if (std::ranges::count(still, 1) > 0) throw Error(Status::peer_failed, describe(Status::peer_failed));
  return repeated;
}

}  // namespace taut::nccl

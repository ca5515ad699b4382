// Completes calls in capacity mode: repeats blocks that did not fit, and tells of frames that were not
// decoded.
#include <algorithm>

#include "communication/nccl/capacity_mode.hpp"

namespace taut::nccl {

// Returns 1 for each unsettled call and block of which a decoder failed on any rank, else 0. Sets `times` to
// the longest of all ranks, and `missing_anywhere` to whether `missing` is true on some rank.
std::vector<char> CapacityMode::failed_somewhere(SlotTimes& times, bool missing, bool& missing_anywhere) {
  const auto P = static_cast<std::size_t>(transport_.size());
  std::vector<std::byte> mine(unsettled_.size() * P);
  for (std::size_t c = 0; c < unsettled_.size(); ++c) {
    const SlotCall& call = unsettled_[c];
    for (std::size_t b = 0; b < call.peers.size(); ++b)
      if (call.block_results()[b].status != 0) mine[c * P + call.first_block + b] = std::byte{1};
  }
  const bool any = std::ranges::find(mine, std::byte{1}) != mine.end();
  bool anywhere = false;
  for (const Agreement& other : transport_.allgather_value(Agreement{any, missing, times})) {
    anywhere = anywhere || other.failed != 0;
    missing_anywhere = missing_anywhere || other.missing != 0;
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

// Waits for the work that the stream has now, and for the calls on other streams.
void CapacityMode::wait_for_all(void* stream) {
  transport_.begin_call(stream);
  transport_.wait();
  memory_->for_each_end([&](std::unique_ptr<gpu::StreamPoint>& end) { transport_.wait(*end); });
}

CapacityMode::Settled CapacityMode::settle_now(void* stream, const SlotTimes& times) {
  const auto P = static_cast<std::size_t>(transport_.size());
  Settled outcome{.times = times};
  wait_for_all(stream);
  abandoned_.clear();
  take_late_failure();
  unreported_ = false;
  const bool late_failure = std::exchange(unsettled_failure_, false);
  const bool missing = late_failure || !std::ranges::all_of(unsettled_, &SlotCall::enqueued);
  bool missing_anywhere = false;
  const std::vector<char> failed_blocks = failed_somewhere(outcome.times, missing, missing_anywhere);
  if (missing_anywhere) outcome.status = late_failure ? Status::frame_mismatch : Status::peer_failed;
  for (std::size_t c = 0; c < unsettled_.size(); ++c) {
    SlotCall& call = unsettled_[c];
    const auto of_call = std::span(failed_blocks).subspan(c * P, P);
    const auto all = static_cast<std::size_t>(std::ranges::count(of_call, 1));
    if (all == 0) continue;
    outcome.repeated += all;
    std::vector<int> blocks;
    for (std::size_t b = 0; b < call.peers.size(); ++b)
      if (of_call[call.first_block + b]) blocks.push_back(static_cast<int>(b));
    call.results = new_results(call);
    const EndOfCall end(*memory_, call.stream, false);
    run(call, blocks, 0);
  }
  if (outcome.repeated > 0) {
    wait_for_all(stream);
    const std::vector<char> still = failed_somewhere(outcome.times, false, missing_anywhere);
    if (std::ranges::count(still, 1) > 0) outcome.status = Status::peer_failed;
  }
  for (const SlotCall& call : std::exchange(unsettled_, {}))
    for (const TAUT_Cuda_result& result : call.block_results())
      if (result.status != 0) outcome.status = static_cast<Status>(result.status);
  return outcome;
}

// ---- Failures that the host learns of late

void CapacityMode::take_late_failure() noexcept {
  if (late_failure_->take()) unreported_ = unsettled_failure_ = true;
}

void CapacityMode::expect_no_late_failure() {
  take_late_failure();
  if (std::exchange(unreported_, false))
    throw Error(Status::frame_mismatch,
                "a frame of an earlier call on this communicator was not decoded, because the ranks' types "
                "differ, or it was damaged: values are missing. The call that returns this error was made");
}

void CapacityMode::continue_after(const CapacityMode& before) {
  late_failure_ = before.late_failure_;
  unreported_ = before.unreported_;
  unsettled_failure_ = before.unsettled_failure_;
}

}  // namespace taut::nccl

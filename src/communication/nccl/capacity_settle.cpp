// Completes calls in capacity mode: repeats blocks that did not fit, and tells of frames that were not
// decoded.
#include <algorithm>

#include "communication/nccl/capacity_mode.hpp"

namespace taut::nccl {

// Returns 1 for each of the calls and blocks of which a decoder failed on any rank, else 0. Sets `times` to
// the longest of all ranks, and `missing_anywhere` to whether `missing` is true on some rank.
std::vector<char> CapacityMode::failed_somewhere(std::span<const SlotCall> calls, SlotTimes& times,
                                                 bool missing, bool& missing_anywhere) {
  const auto P = static_cast<std::size_t>(transport_.size());
  std::vector<std::byte> mine(calls.size() * P);
  for (std::size_t c = 0; c < calls.size(); ++c) {
    const SlotCall& call = calls[c];
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

std::size_t CapacityMode::settle(void* stream) {
  bool late_failure = false;
  const Settled settled = or_abort_node([&] {
    wait_for_all(stream);
    take_late_failure();
    unreported_ = false;
    late_failure = std::exchange(unsettled_failure_, false);
    return settle_from(0, stream, late_failure || !std::ranges::all_of(unsettled_, &SlotCall::enqueued), {});
  });
  Status status = settled.status;
  if (status == Status::ok && settled.missing)
    status = late_failure ? Status::frame_mismatch : Status::peer_failed;
  if (status != Status::ok) throw Error(status, describe(status));
  return settled.repeated;
}

// Waits for the work that the stream has now, and for the calls on other streams.
void CapacityMode::wait_for_all(void* stream) {
  transport_.begin_call(stream);
  transport_.wait();
  memory_->for_each_end([&](std::unique_ptr<gpu::StreamPoint>& end) { transport_.wait(*end); });
}

// Settles the calls from number `first` on, once the host has waited for them. `missing`: a result of another
// call is missing on this rank.
CapacityMode::Settled CapacityMode::settle_from(std::size_t first, void* stream, bool missing,
                                                const SlotTimes& times) {
  const auto P = static_cast<std::size_t>(transport_.size());
  const std::span<SlotCall> calls = std::span(unsettled_).subspan(first);
  Settled outcome{.times = times};
  abandoned_.clear();
  const std::vector<char> failed_blocks = failed_somewhere(calls, outcome.times, missing, outcome.missing);
  for (std::size_t c = 0; c < calls.size(); ++c) {
    SlotCall& call = calls[c];
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
    const std::vector<char> still = failed_somewhere(calls, outcome.times, false, outcome.missing);
    if (std::ranges::count(still, 1) > 0) outcome.status = Status::peer_failed;
  }
  for (const SlotCall& call : calls)
    for (const TAUT_Cuda_result& result : call.block_results())
      if (result.status != 0) outcome.status = static_cast<Status>(result.status);
  unsettled_.erase(unsettled_.begin() + static_cast<std::ptrdiff_t>(first), unsettled_.end());
  return outcome;
}

// Settles the call that was made last; earlier ones are left to settle(). All ranks tell of a frame of a
// fixed size that was not decoded by expect_no_late_failure(), once the call has its results.
SlotTimes CapacityMode::settle_own(std::size_t first, void* stream, const SlotTimes& times) {
  const Settled settled = or_abort_node([&] {
    wait_for_all(stream);
    take_late_failure();
    return settle_from(first, stream, unreported_, times);
  });
  if (settled.status != Status::ok) throw Error(settled.status, describe(settled.status));
  unreported_ = unreported_ || settled.missing;
  return settled.times;
}

// ---- Failures that the host learns of late

void CapacityMode::take_late_failure() noexcept {
  if (late_failure_->take()) unreported_ = unsettled_failure_ = true;
}

void CapacityMode::expect_no_late_failure() {
  take_late_failure();
  if (std::exchange(unreported_, false))
    throw Error(
        Status::frame_mismatch,
        "a frame of an earlier call on this communicator, or of this one if it waits for its result, was "
        "not decoded, because the ranks' types differ, or it was damaged: values are missing. The call "
        "that returns this error was made");
}

void CapacityMode::continue_after(const CapacityMode& before) {
  late_failure_ = before.late_failure_;
  unreported_ = before.unreported_;
  unsettled_failure_ = before.unsettled_failure_;
}

}  // namespace taut::nccl

#include "communication/comm/call_record.hpp"

#include <limits>

#include "communication/comm/communicator.hpp"

namespace taut {

CallRecord::CallRecord(const Observer& observer, const Call& call) noexcept
    : observer_(observer), key_(call.key()), bytes_(call.bytes) {
  observer_.table->count(key_, bytes_);
  if (observer_.recorder != nullptr) counters_.tag = observer_.recorder->open(call.kind(), call.site);
}

CallRecord::~CallRecord() {
  if (observer_.recorder != nullptr) observer_.recorder->close(counters_.tag);
}

// Counts the messages of the agreement: by dissemination, ceil(log2 P) messages a round.
void CallRecord::agreed(int rounds, int ranks, float expected_ratio) noexcept {
  counters_.spent(Phase::agree, 0, began_, 0);
  const auto messages = static_cast<std::uint64_t>(rounds * log2_ceil(ranks));
  counters_.sent_messages += messages;
  counters_.sent_bytes += messages * sizeof(AgreementMessage);
  const bool sampled = expected_ratio < std::numeric_limits<float>::max();
  row().expected_ratio = sampled ? expected_ratio : 0;
}

void CallRecord::decided(const Plan& plan, const Coding& candidate) noexcept {
  compressed_ = true;
  Decision& decision = row().decision;
  decision = {candidate.codec->name, {},         plan.algorithm->name, plan.arithmetic,
              plan.segments,         plan.bound, plan.by_nodes};
  text_of(candidate.predictor).copy(decision.predictor, sizeof decision.predictor - 1);
}

void CallRecord::end(const Verdict& verdict) noexcept {
  CallRow& row = this->row();
  if (verdict.fallback != Fallback::none) row.note_plain(verdict.fallback);
  row.sum.failed_calls += verdict.status != Status::ok;
  if (compressed_) add_traffic(row.sum);
  row.sum.times += split();
}

void CallRecord::add_traffic(Statistics& sum) const noexcept {
  ++sum.compressed_calls;
  sum.value_bytes += counters_.value_bytes;
  sum.frame_bytes += counters_.frame_bytes;
  sum.carried_bytes += counters_.carried_bytes;
  sum.sent_bytes += counters_.sent_bytes;
  sum.sent_messages += counters_.sent_messages;
}

// Splits the time of the call by phase. A compressed call polls in the time outside the other phases, which
// counts as waiting. Segments take turns, so that one segment may wait in the time in which another one
// encodes.
PhaseTimes CallRecord::split() noexcept {
  PhaseTimes& times = counters_.times;
  if (compressed_) {
    counters_.spent(Phase::call, 0, began_, bytes_);
    times[Phase::wait] = times[Phase::call] - times[Phase::agree] - times[Phase::encode] -
                         times[Phase::combine] - times[Phase::decode];
  } else {
    times[Phase::call] = times[Phase::agree];
  }
  return times;
}

}  // namespace taut

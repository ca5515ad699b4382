// The history of a call: the series that it belongs to, the agreement on states, and the state that it
// leaves.
#include <algorithm>
#include <limits>

#include "communication/comm/active_call.hpp"
#include "communication/comm/device_history.hpp"
#include "communication/comm/sum_history.hpp"
#include "communication/gpu/frame_codec.hpp"
#include "communication/team/hierarchical.hpp"
#include "compressor/base/device_memory.hpp"
#include "compressor/base/guarded.hpp"

namespace taut {
// Returns true if frames of the call may refer to earlier calls: calls that move values, each of whose frames
// is decoded from what one rank encoded, and sums by frames. Values on a GPU are moved by kernels for
// references, and by MPI.
bool Communicator::ActiveCall::has_series() const noexcept {
  if (policy().history == 0 || plan_.algorithm->recodes || !plan_.candidates[0].codec->takes_references)
    return false;
  if (reduces(call_.collective)) return !call_.on_device && sums_by_frames();
  if (!call_.on_device) return true;
  return device_ && !call_.over_nccl && gpu::has_reference_kernels(device_->device(), referring_coding());
}

// Returns true if the call adds frames whose integers tell those of the sum: 32 bits hold the integers of up
// to 255 addends.
bool Communicator::ActiveCall::sums_by_frames() const noexcept {
  constexpr int most_addends = 255;
  return may_sum_with_history(call_) && plan_.arithmetic == Arithmetic::frames && ranks() <= most_addends &&
         std::ranges::all_of(plan_.candidates, [](const Coding& one) { return one.codec->adds_frames; });
}

// Returns the key of the series of the call on this rank: all that has to be equal for values to have the
// same places as in earlier calls. Ranks never compare it.
std::uint64_t Communicator::ActiveCall::series_key(std::uint64_t signature) const noexcept {
  std::uint64_t key = signature;
  mix(key, call_.type);
  mix_places(key, call_.data, compressed_ != nullptr);
  mix(key, device_ ? device_->device().number() : -1);  // the states are there
  mix(key, plan_.by_nodes ? plan_.segments : 0);        // places between nodes may depend on the segments
  if (reduces(call_.collective)) mix(key, plan_.bound.value);  // integers of another step do not add up
  return key;
}

// Returns the places of the values that this rank codes. By nodes the algorithm sets their memory, unless
// blocks go from rank to rank.
OperandPlaces Communicator::ActiveCall::operand_places() const {
  const Operands& data = call_.data;
  if (plan_.by_nodes && !moves_between_ranks(call_)) {
    const BytesBetweenNodes bytes = bytes_between_nodes(call_.collective, comm_.nodes_, rank(), data);
    return {bytes.sent, bytes.received, plan_.segments};
  }
  const bool of_others = call_.collective == Collective::exscan;  // the sum of the ranks before this one
  OperandExtent sent, received;
  if (!of_others || rank() + 1 < ranks()) sent = OperandExtent(data.in);
  if (receives(call_, rank()) && (!of_others || rank() > 0))
    received = OperandExtent(Blocks<ConstSlice>(data.out, data.out.layout));
  OperandPlaces places(sent.bytes, received.bytes, 1);
  places.set(0, {sent, received, {}});
  return places;
}

// Offers the newest state of the series to the other ranks. A rank that cannot take part is against a
// history.
void Communicator::ActiveCall::offer_history(AgreementMessage& mine) {
  mine.set_history(0, 0, 0);
  mine.set_history_times({}, may_complete_early(call_.collective));
  if (!has_series()) return;
  const std::uint64_t began = clock_now();
  places_ = operand_places();
  const std::size_t bytes = places_->sent_bytes() + places_->received_bytes();
  std::shared_ptr<Series> series =
      comm_.histories_.of(series_key(mine.signature_low), bytes, policy().history_bytes);
  if (series == nullptr || series->under_way()) return;
  series_ = std::move(series);
  series_->begin(bytes);
  alone_ = is_timed_with_history() && series_->trials().next(plan_.coding);
  states_ = series_->states();
  const ConstSlice own = own_values(call_, rank()).most();
  const bool may_refer = !device_ || (on_device(own.data) && gpu::suits_kernels(own));
  looks_ =
      own.count > 0 && may_refer && (!alone_ || series_->pieces().size() == 0) && !series_->pieces().rests();
  if (policy().only_if_profitable())
    mine.set_history_times(series_->trials().own(), may_complete_early(call_.collective));
  offer_nanoseconds_ = clock_now() - began;
}

// Adds the forecast for this rank's values to the record. A call that is timed without a history makes a
// forecast only if there is no earlier piece, for the piece of its own values. `looked_at`: the values, or a
// piece of them. Without memory there is no forecast.
void Communicator::ActiveCall::forecast(ConstSlice looked_at, AgreementMessage& mine) {
  if (series_ == nullptr) return;
  const std::uint64_t began = clock_now();
  HistoryForecast found;
  if (looks_) guarded([&] { found = look_for_references(looked_at); });
  if (!alone_) forecast_ = found;
  const std::size_t period = forecast_.period;
  const bool neutral = !alone_ && (looked_at.count == 0 || !reduces(call_.collective));
  mine.set_history(series_->newest(), states_.size(),
                   period > 0 || !neutral ? period : AgreementMessage::max_history);
  for (std::size_t i = 0; i < plan_.candidates.size() && period > 0; ++i) {
    float& ratio = mine.measured_low[i];
    const bool has_sample = ratio > 0 && ratio < std::numeric_limits<float>::max();
    if (has_sample && plan_.candidates[i].codec->takes_references) ratio *= forecast_.gain;
  }
  offer_nanoseconds_ += clock_now() - began;
}

// Compares this rank's values with those of earlier calls. Kernels use all references that they get, by the
// predictor `none` unless the policy names one.
HistoryForecast Communicator::ActiveCall::look_for_references(ConstSlice looked_at) {
  Coding coding = referring_coding();
  CodecCache& codecs = early_.policy_state->codecs;
  const std::shared_ptr<const Codec> codec = codecs.find_or_make(coding, plan_.bound);
  std::shared_ptr<const Codec> of_kernels;
  if (device_) {
    if (coding.predictor.automatic()) coding.predictor = {"none", {}};
    of_kernels = codecs.find_or_make(coding, plan_.bound);
  }
  return series_->pieces().forecast(looked_at, reduces(call_.collective), *codec, policy().history,
                                    of_kernels.get());
}

// Begins the series anew if not all ranks hold its newest state. Leaves it if no rank gains by it.
void Communicator::ActiveCall::agree_on_history(const AgreementMessage& agreed) noexcept {
  if (series_ == nullptr) return;
  const HistoryTimes times = agreed.history_times(may_complete_early(call_.collective));
  leaves_state_ = agreed.wants_history() && series_->trials().keeps_history(times);
  tries_history_ = leaves_state_ && policy().only_if_profitable() && times.with_history == 0;
  if (!leaves_state_ || !agreed.history_agreed()) {
    states_.clear();
    series_->clear();
  }
  if (!leaves_state_) return;
  states_.resize(std::min<std::size_t>(agreed.history_depth, states_.size()));
  const bool encodes_others = plan_.by_nodes && own_values(call_, rank()).count == 0;  // beside a root
  if (reduces(call_.collective) || (encodes_others && places_->sent_bytes() > 0))
    forecast_ = {agreed.history_period, 1, device_ ? 1U : max_references};
  needed_ = agreed.history_period;
  refers_ = needed_ <= states_.size();
  if (forecast_.period > states_.size()) forecast_.period = 0;
  state_number_ = hash(std::as_bytes(std::span(&agreed, 1)), series_->newest());
  mix(state_number_, number_);
  state_number_ |= 1;  // 0: no state
}

// Returns the coding of frames with references: the chosen one, with a predictor that is chosen anew unless
// the policy names one.
Coding Communicator::ActiveCall::referring_coding() const {
  Coding coding = plan_.candidates[chosen_];
  if (policy().coding.predictor.automatic()) coding.predictor = {};
  return coding;
}

// Runs the algorithm with the states of the series, and leaves a state. Without memory for the referring
// codec, the usual one takes the references.
Task<> Communicator::ActiveCall::run_in_series(const Codec& usual) {
  std::shared_ptr<const Codec> referring;
  const Codec* codec = &usual;
  if (forecast_.period > 0) record_.refers();
  guarded([&] { referring = codec_of(referring_coding()); });
  if (referring != nullptr) codec = referring.get();
  std::optional<CallState> state;
  if (reduces(call_.collective)) {
    SumHistory history(forecast_.period > 0 ? states_[forecast_.period - 1] : nullptr, *places_, *series_);
    const SumHistoryCodec with_history(*codec, history);
    co_await run_algorithm(with_history);
    state = history.state(state_number_);
  } else {
    CallHistory history(states_, forecast_, *places_, *series_, device_ ? &*device_ : nullptr);
    const HistoryCodec on_host(*codec, usual, history);
    const DeviceHistoryCodec on_gpu(*codec, usual, history);
    co_await run_algorithm(device_ ? on_gpu : on_host);
    if (device_) record_.counters().note(device_->device().wait());
    state = history.state(state_number_);
  }
  states_.clear();  // so that the series can reuse the memory of a state that it drops
  leave_state(std::move(state));
}

// Returns true if times decide on a history, and that of this call is one of them. A call in flight also
// waits while the program computes.
bool Communicator::ActiveCall::is_timed_with_history() const noexcept {
  return policy().only_if_profitable() && compressed_ == nullptr;
}

// Records the time of a call since the agreement, and that of the offer before it.
void Communicator::ActiveCall::record_history(std::uint64_t began) noexcept {
  if (series_ == nullptr || !is_timed_with_history() || record_.counters().status != Status::ok) return;
  HistoryTrials& trials = series_->trials();
  const double time = seconds(clock_now() - began + offer_nanoseconds_);
  if (!leaves_state_)
    trials.record_without(time, record_.bytes(), plan_.route());
  else if (refers_)
    trials.record_with(time, record_.bytes(), plan_.route());
  else
    trials.record_without_state(needed_);
}

// Adds the state of the call to its series. After a failure the series begins anew.
void Communicator::ActiveCall::leave_state(std::optional<CallState> state) noexcept {
  series_->end();
  const Status added = guarded([&] {
    if (record_.counters().status != Status::ok || !state) return Status::out_of_memory;
    // A sum refers to one state only; a moved value to two, which each sender chooses.
    series_->add(*std::move(state), reduces(call_.collective) ? needed_ : policy().history);
    return Status::ok;
  });
  if (added != Status::ok) series_->clear();
}

}  // namespace taut

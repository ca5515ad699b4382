// The history of a call: the series that it belongs to, the agreement on states, and the state that it
// leaves.
#include "communication/comm/active_call.hpp"
#include "compressor/base/guarded.hpp"

namespace taut {
namespace {

template <class S>
void mix_operand(std::uint64_t& key, const Blocks<S>& operand) noexcept {
  mix(key, operand.data != nullptr);
  mix(key, operand.count);
  if (operand.layout == nullptr) return;
  key = hash(std::as_bytes(std::span(operand.layout->counts)), key);
  key = hash(std::as_bytes(std::span(operand.layout->offsets)), key);
}

}  // namespace

// Returns true if frames of the call may refer to earlier calls: blocking calls that move values on the host.
// Each of their frames is decoded from what one rank encoded.
bool Communicator::ActiveCall::has_series() const noexcept {
  return policy().history > 0 && compressed_ == nullptr && !early_.overlaps && !reduces(call_.collective) &&
         !call_.on_device && !plan_.by_nodes && !plan_.algorithm->recodes;
}

// Returns the key of the series of the call on this rank: all that has to be equal for values to have the
// same places as in earlier calls. Ranks never compare it.
std::uint64_t Communicator::ActiveCall::series_key(std::uint64_t signature) const noexcept {
  std::uint64_t key = signature;
  mix(key, call_.type);
  mix_operand(key, call_.data.in);
  mix_operand(key, call_.data.out);
  mix(key, call_.data.own.has_value());
  return key;
}

// Offers the newest state of the series to the other ranks.
void Communicator::ActiveCall::offer_history(AgreementMessage& mine) {
  mine.set_history(0, 0);
  if (!has_series()) return;
  const Blocks<ConstSlice> received(call_.data.out, call_.data.out.layout);
  const std::size_t bytes = OperandExtent(call_.data.in).bytes + OperandExtent(received).bytes;
  series_ = comm_.histories_.of(series_key(mine.signature_low), bytes, policy().history_bytes);
  if (series_ == nullptr) return;
  mine.set_history(series_->newest(), series_->states.size());
}

// Begins the series anew if not all ranks hold its newest state, or if some rank has its values on a GPU.
void Communicator::ActiveCall::agree_on_history(const AgreementMessage& agreed) noexcept {
  if (series_ == nullptr) return;
  const bool on_host = (agreed.obstacles & AgreementMessage::on_device) == 0;
  if (!agreed.history_agreed() || !on_host) series_->states.clear();
  depth_ = std::min<std::size_t>(agreed.history_depth, series_->states.size());
  state_number_ = hash(std::as_bytes(std::span(&agreed, 1)), series_->newest()) | 1;  // 0: no state
  if (!on_host) series_ = nullptr;
}

// Returns the codec for frames with references: the chosen one, which chooses its predictor anew unless the
// policy names one. Returns null if there is no memory.
std::shared_ptr<const Codec> Communicator::ActiveCall::codec_with_references() noexcept {
  std::shared_ptr<const Codec> codec;
  if (series_ == nullptr || depth_ == 0) return codec;
  Coding coding = plan_.candidates[chosen_];
  if (policy().coding.predictor.automatic()) coding.predictor = {};
  guarded([&] { codec = early_.policy_state->codecs.of(coding, plan_.bound); });
  return codec;
}

// Adds the state of the call to its series. After a failure the series begins anew.
void Communicator::ActiveCall::leave_state(CallHistory& history, Status status) noexcept {
  const Status added = guarded([&] {
    std::optional<CallState> state = history.state(state_number_);
    if (status != Status::ok || !state) return Status::out_of_memory;
    series_->add(*std::move(state), policy().history);
    return Status::ok;
  });
  if (added != Status::ok) series_->states.clear();
}

}  // namespace taut

#include "communication/api/messages/comm_endpoint.hpp"

#include "communication/api/state/comm_state.hpp"

namespace taut::api {
namespace {

// Returns the type of a message. A plain message has the type of its receive.
std::optional<DType> type_of(const p2p::MpiMessage& recv, const Message& message) noexcept {
  if (message.type) return message.type;
  const auto elements = datatype_layout_of(recv.type);
  return elements ? std::optional(elements->type()) : std::nullopt;
}

Call call_of(std::optional<DType> type, std::size_t bytes, const void* site) noexcept {
  return {.collective = Collective::recv, .type = type.value_or(DType{}), .bytes = bytes, .site = site};
}

// Writes a timed receive to the trace.
void trace(const Call& call, const p2p::MpiMessage& recv, const Message& message,
           std::uint64_t end) noexcept {
  Recorder* const events = recv.began != 0 ? recorder() : nullptr;
  if (events == nullptr) return;
  const std::uint64_t decoding = message.end - message.begin;
  const CallTag tag = events->open(call.kind(), call.site);
  tag.add(message.coded() ? Phase::wait : Phase::plain, 0, recv.began, end - decoding, message.bytes);
  if (message.coded()) tag.add(Phase::decode, 0, message.begin, message.end, message.bytes);
  tag.add(Phase::call, 0, recv.began, end, message.bytes);
  events->close(tag);
}

}  // namespace

CommEndpoint::CommEndpoint(CommState& comm_state, std::uint64_t mark,
                           std::shared_ptr<p2p::SegmentComm> segments)
    : Endpoint({.mark = mark}, true, std::move(segments)),
      comm_state_(comm_state),
      coder_(comm_state.policy(), format(), comm_state.policy().coding.threads) {
  if (coder_.uses_history() && this->segments() != nullptr) this->segments()->use_credits();
}

std::size_t CommEndpoint::history_bytes() const noexcept {
  return coder_.uses_history() ? comm_state_.policy().history_bytes : 0;
}

void CommEndpoint::count(const p2p::MpiMessage& recv, const Message& message) noexcept {
  const Call call = call_of(type_of(recv, message), message.bytes, recv.site);
  const std::uint64_t end = recv.began != 0 ? clock_now() : 0, decoding = message.end - message.begin;
  comm_state_.account([&](CallTable& calls) {
    CallRow& row = calls.count(call.key(), message.bytes);
    row.sum.failed_calls += message.failed;
    PhaseTimes& times = row.sum.times;
    const std::uint64_t all = recv.began != 0 ? end - recv.began : decoding;
    times[Phase::decode] += decoding;
    times[message.coded() ? Phase::wait : Phase::plain] += all - decoding;
    times[Phase::call] += all;
    if (message.coded()) {
      ++row.sum.compressed_calls;
      row.decision = {message.codec->name, {}, "one_message", Arithmetic::values, 1, message.bound};
    } else if (!message.failed) {
      row.note_plain(message.bytes < comm_state_.policy().min_bytes ? Fallback::small : Fallback::sender);
    }
  });
  trace(call, recv, message, end);
}

p2p::Endpoint* endpoint_of(CommState* comm_state) noexcept {
  if (comm_state != nullptr && comm_state->messages() != nullptr) return comm_state->messages();
  return p2p::program_endpoint();
}

}  // namespace taut::api

#include "api/messages.hpp"

#include "api/attached.hpp"

namespace taut::api {
namespace {

// The type of a plain message is that of its receive.
std::optional<DType> type_of(const p2p::RecvBuffer& at, const p2p::Received& received) noexcept {
  if (received.type) return received.type;
  const auto elements = elements_of(at.type);
  return elements ? std::optional(elements->type()) : std::nullopt;
}

Call call_of(std::optional<DType> type, std::size_t bytes, const void* site) noexcept {
  return {.collective = Collective::recv, .type = type.value_or(DType{}), .bytes = bytes, .site = site};
}

// A timed receive in the trace.
void trace(const Call& call, const p2p::RecvBuffer& at, const p2p::Received& received,
           std::uint64_t end) noexcept {
  Recorder* const events = at.began != 0 ? recorder() : nullptr;
  if (events == nullptr) return;
  const std::uint64_t decoding = received.end - received.begin;
  const CallTag tag = events->open(call.kind());
  tag.add(received.coded() ? Verb::wait : Verb::plain, 0, at.began, end - decoding, received.bytes);
  if (received.coded()) tag.add(Verb::decode, 0, received.begin, received.end, received.bytes);
  tag.add(Verb::call, 0, at.began, end, received.bytes);
  events->close(tag);
}

}  // namespace

Messages::Messages(Attached& attached, std::uint64_t mark)
    : Endpoint({.mark = mark}, true),
      attached_(attached),
      coder_(attached.policy(), format(), attached.policy().coding.threads) {}

void Messages::count(const p2p::RecvBuffer& at, const p2p::Received& received) noexcept {
  const Call call = call_of(type_of(at, received), received.bytes, at.site);
  const std::uint64_t end = at.began != 0 ? clock_now() : 0, decoding = received.end - received.begin;
  attached_.account([&](CallTable& calls) {
    CallRow& row = calls.count(call.key(), received.bytes);
    row.sum.failed_calls += received.failed;
    Times& times = row.sum.times;
    const std::uint64_t all = at.began != 0 ? end - at.began : decoding;
    times[Verb::decode] += decoding;
    times[received.coded() ? Verb::wait : Verb::plain] += all - decoding;
    times[Verb::call] += all;
    if (received.coded()) {
      ++row.sum.compressed_calls;
      row.decision = {received.codec->name, {}, "one_message", Arithmetic::values, 1, received.bound};
    } else if (!received.failed) {
      row.note_plain(received.bytes < attached_.policy().min_bytes ? Plain::small : Plain::sender);
    }
  });
  trace(call, at, received, end);
}

p2p::Endpoint* endpoint_of(Attached* attached) noexcept {
  if (attached != nullptr && attached->messages() != nullptr) return attached->messages();
  return p2p::program_endpoint();
}

}  // namespace taut::api

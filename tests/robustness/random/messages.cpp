#include "robustness/random/messages.hpp"

#include <cstring>
#include <sstream>

namespace taut::test {
namespace {

constexpr Lane lane = 127;  // a lane of the first call, which uses fewer lanes

}  // namespace

Messages::Messages(Draw& draw, int P, const std::string& policy, double scale)
    : policy_(parse_policy(policy)) {
  const int count = draw.one_in(3) ? 1 + draw.pick(6) : 0;
  for (int i = 0; i < count; ++i) {
    Call call = draw_call(draw, 2, 0, scale);
    call.collective = Collective::bcast;
    call.root = 0;
    call.mean = call.apart = false;
    call.in_place = true;
    call.sizes.clear();
    call.neighbours.clear();
    messages_.push_back(std::make_unique<Message>(draw.pick(P), draw.pick(P), std::move(call)));
  }
  for (int r = 0; r < P && count > 0; ++r) ranks_.push_back(std::make_unique<Rank>(policy_));
}

// Sends a frame if the coder makes one, else the values as they are.
Task<> Messages::send(Transport& transport, Rank& rank, Message& message) {
  const Slice values = message.memory.operands(0).out;
  taut::Message made;
  if (values.count > 0 && early_fallback(rank.policy, values.bytes(), 2) == Fallback::none)
    made = rank.coder.encode(values);
  message.coded = made.coded_bytes != 0;
  const ConstBytes whole = message.coded ? made.memory().first(made.coded_bytes) : values.as_bytes();
  co_await transport.send(whole, message.to, lane);
}

Task<> Messages::receive(Transport& transport, Rank& rank, Message& message) {
  const Slice values = message.memory.operands(1).out;
  const Buffer buffer = rank.place.scratch(values.bytes());
  const SizeOrStatus got = co_await transport.recv(buffer.bytes().first(values.bytes()), message.from, lane);
  message.status = got.status;
  if (got.status != Status::ok) co_return;
  const ConstBytes whole = ConstBytes(buffer.bytes()).first(got.bytes);
  if (!has_mark(message_format, whole)) {
    if (values.count > 0) std::memcpy(values.data, whole.data(), whole.size());
    co_return;
  }
  const auto envelope = open_message(message_format, whole);
  message.status = envelope ? rank.coder.decode(envelope->frames, envelope->type, values.as_bytes())
                            : Status::corrupt_frame;
}

Task<> Messages::of_rank(LoopbackHub& hub, int rank) {
  std::vector<Task<>> tasks;
  for (const auto& message : messages_) {
    Rank& mine = *ranks_[static_cast<std::size_t>(rank)];
    if (message->to == rank) tasks.push_back(receive(hub.transport(rank), mine, *message));
    if (message->from == rank) tasks.push_back(send(hub.transport(rank), mine, *message));
  }
  co_await all(tasks);
}

std::string Messages::text() const {
  std::ostringstream out;
  for (const auto& message : messages_)
    out << "\n  message from " << message->from << " to " << message->to << ": " << message->call;
  return out.str();
}

std::string Messages::wrong(Errors& errors) const {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const Message& message = *messages_[i];
    std::string text = message.status != Status::ok ? describe(message.status) : "";
    if (text.empty()) text = message.memory.touched(true);
    if (text.empty())
      text = broken(promise_of_message(policy_, message.memory, message.coded), message.memory, errors, {1});
    if (!text.empty()) return "message " + std::to_string(i) + ": " + text;
  }
  return "";
}

}  // namespace taut::test

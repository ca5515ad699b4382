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
    Call call = draw_call(draw, 2, {}, scale);
    call.collective = Collective::bcast;
    call.root = 0;
    call.mean = call.apart = false;
    call.in_place = true;
    call.sizes.clear();
    call.neighbours.clear();
    const int from = draw.pick(P), to = draw.pick(P);
    const int alike = policy_.history > 0 && draw.one_in(2) ? 2 + draw.pick(8) : 1, fields = 1 + draw.pick(2);
    for (int k = 0; k < alike; ++k) {
      Call one = call;
      one.seed += static_cast<std::uint64_t>(k % fields);
      Message& message = *messages_.emplace_back(std::make_unique<Message>(from, to, std::move(one)));
      message.stream = static_cast<std::uint64_t>(i);
      message.keeps = !draw.one_in(8);
      message.gives_credit = !draw.one_in(8);
    }
  }
  for (int r = 0; r < P && count > 0; ++r) ranks_.push_back(std::make_unique<Rank>(policy_, r));
}

// Sends the messages from one rank to another one after the other, so that credit may come between them.
Task<> Messages::send_all(Transport& transport, int from, int to) {
  for (const auto& message : messages_)
    if (message->from == from && message->to == to)
      co_await send(transport, *ranks_[static_cast<std::size_t>(from)], *message);
}

// Sends a frame if the coder makes one, else the values as they are.
Task<> Messages::send(Transport& transport, Rank& rank, Message& message) {
  const Slice values = message.memory.operands(0).out;
  taut::Message made;
  if (values.count > 0 && early_fallback(rank.policy, values.bytes(), 2) == Fallback::none)
    made = rank.coder.encode(
        values, 0, {},
        rank.policy.history > 0
            ? MessageHistory{&rank.sent, {message.stream, static_cast<std::uint32_t>(message.to)}}
            : MessageHistory{});
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
  if (!envelope) {
    message.status = Status::corrupt_frame;
    co_return;
  }
  rank.received.forget(envelope->state);
  message.status = rank.coder.decode(envelope->frames, envelope->type, values.as_bytes(),
                                     {&rank.received, nullptr, envelope->bytes});
  const bool kept = message.status == Status::ok && message.keeps && envelope->state.number != 0 &&
                    rank.received.keep(envelope->state.number, values, rank.policy.history_bytes);
  if (kept && message.gives_credit)
    ranks_[static_cast<std::size_t>(message.from)]->sent.give_credit(envelope->state.number);
}

Task<> Messages::of_rank(LoopbackHub& hub, int rank) {
  std::vector<Task<>> tasks;
  Rank& mine = *ranks_[static_cast<std::size_t>(rank)];
  for (const auto& message : messages_)
    if (message->to == rank) tasks.push_back(receive(hub.transport(rank), mine, *message));
  for (int to = 0; to < static_cast<int>(ranks_.size()); ++to)
    tasks.push_back(send_all(hub.transport(rank), rank, to));
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

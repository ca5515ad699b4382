#include "communication/team/intra_node.hpp"

namespace taut {

NodePeers::Memory NodePeers::memory(std::size_t count, DType type) noexcept {
  Buffer buffer = team_.scratch(*team_.values_, count * size_of(type));
  const Slice values{{buffer.data(), count, type}};
  return {std::move(buffer), values};
}

void NodePeers::copy(ConstSlice from, Slice to) noexcept {
  if (team_.failed() == Status::ok) team_.copy(from, to);
}

void NodePeers::combine(Slice values, ConstSlice operand, Reduction op) noexcept {
  const Team::Timed timed(team_, Phase::combine, values.bytes());
  if (team_.failed() == Status::ok) team_.note(team_.values_->reduce(values, operand, op));
}

ValueSend::ValueSend(NodePeers& node, ConstSlice values, int to) : waiting_(node.team_), bytes_(0) {
  Team& team = node.team_;
  if (to == NodePeers::no_rank) return;
  MessageMemory* const memory = team.values_->message_memory();
  if (memory == nullptr && !team.values_->on_host()) values = staged(team, values);
  ConstBytes bytes = values.as_bytes();
  if (memory != nullptr) {
    bytes = memory->outgoing(bytes);
    if (bytes.size() < values.bytes()) team.note(Status::device_failed);
  }
  if (team.failed() != Status::ok && !bytes.empty()) bytes = bytes.first(bytes.size() - 1);
  bytes_ = bytes.size();
  pending_ = team.transport_->send(bytes, team.address(to), team.lane_);
}

// Copies values that the transport cannot access to memory of the host. If there is none, the message is
// empty.
ConstSlice ValueSend::staged(Team& team, ConstSlice values) noexcept {
  staging_ = team.scratch(values.bytes());
  if (staging_.data() == nullptr) return {};
  if (values.data != nullptr && team.failed() == Status::ok)
    team.note(team.values_->copy(staging_.data(), values.as_bytes().data(), values.bytes()));
  return {{staging_.data(), values.count, values.type}};
}

ValueReceive::ValueReceive(NodePeers& node, Slice values, int from)
    : team_(node.team_),
      waiting_(node.team_),
      values_(values),
      expected_(from == NodePeers::no_rank ? 0 : values.bytes()) {
  if (from == NodePeers::no_rank) return;
  Bytes capacity = values.data == nullptr ? Bytes() : values.as_bytes();
  if (MessageMemory* const memory = team_.values_->message_memory()) {
    capacity = memory->incoming(capacity);
    if (capacity.size() < expected_) team_.note(Status::device_failed);
  } else if (!team_.values_->on_host()) {
    staging_ = team_.scratch(expected_);
    capacity = staging_.data() == nullptr ? Bytes() : staging_.bytes().first(expected_);
  }
  pending_ = team_.transport_->recv(capacity, team_.address(from), team_.lane_);
}

void ValueReceive::result() noexcept {
  const SizeOrStatus moved = pending_.result();
  waiting_.over(moved.bytes);
  team_.note(moved.status);
  if (moved.bytes != expected_) team_.note(Status::peer_failed);
  if (staging_.data() != nullptr && values_.data != nullptr && team_.failed() == Status::ok)
    team_.note(team_.values_->copy(values_.as_bytes().data(), staging_.data(), expected_));
}

}  // namespace taut

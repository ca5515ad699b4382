#include "core/intra_node.hpp"

namespace taut {

NodePeers::Memory NodePeers::memory(std::size_t count, DType type) noexcept {
  Buffer buffer = team_.scratch(count * size_of(type));
  const Slice values{{buffer.data(), count, type}};
  return {std::move(buffer), values};
}

void NodePeers::copy(ConstSlice from, Slice to) noexcept {
  if (team_.failed() != Status::ok || to.data == from.data) return;
  team_.place_->copy(to.as_bytes().data(), from.as_bytes().data(), to.bytes());
}

void NodePeers::combine(Slice values, ConstSlice others, Reduction op) noexcept {
  const Team::Timed timed(team_, Phase::combine, values.bytes());
  if (team_.failed() == Status::ok) reduce_values(values, others, op);
}

ValueSend::ValueSend(NodePeers& node, ConstSlice values, int to) : waiting_(node.team_) {
  Team& team = node.team_;
  ConstBytes bytes = values.as_bytes();
  if (team.failed() != Status::ok && !bytes.empty()) bytes = bytes.first(bytes.size() - 1);
  pending_ = team.transport_->send(bytes, team.address(to), team.lane_);
}

ValueReceive::ValueReceive(NodePeers& node, Slice values, int from)
    : team_(node.team_), waiting_(node.team_), expected_(values.bytes()) {
  const Bytes capacity = values.data == nullptr ? Bytes() : values.as_bytes();
  pending_ = team_.transport_->recv(capacity, team_.address(from), team_.lane_);
}

void ValueReceive::result() noexcept {
  const Sized moved = pending_.result();
  waiting_.over(moved.bytes);
  team_.note(moved.status);
  if (moved.bytes != expected_) team_.note(Status::peer_failed);
}

}  // namespace taut

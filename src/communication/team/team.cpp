#include "communication/team/team.hpp"

#include <algorithm>

namespace taut {

Team Team::segment(int k, int segments) const noexcept {
  Team part = *this;
  part.lane_ = lane_ + k;
  part.segment_ = part.part_ = k;
  part.parts_ = segments;
  return part;
}

Team Team::in_blocks(int n) const noexcept {
  Team other = *this;
  other.blocks_ = n;
  return other;
}

Team Team::among(std::span<const int> ranks) const noexcept {
  Team subset = *this;
  subset.members_ = ranks;
  subset.rank_ = static_cast<int>(std::ranges::find(ranks, rank_) - ranks.begin());
  subset.size_ = subset.blocks_ = subset.inputs_ = static_cast<int>(ranks.size());
  return subset;
}

Team Team::in_blocks_of_all() const noexcept {
  Team other = in_blocks(transport_->size());
  other.members_blocks_ = true;
  return other;
}

Team Team::with_sums_of(const Team& other) const noexcept {
  Team same = *this;
  same.inputs_ = other.inputs_;
  same.counts_messages_ = false;
  return same;
}

Team Team::in_series(OperandPlaces* places) const noexcept {
  Team other = *this;
  other.places_ = places;
  return other;
}

Team Team::of_segment() const noexcept {
  Team other = *this;
  other.part_ = 0;
  other.parts_ = 1;
  return other;
}

Team Team::in_packets(std::size_t bytes) const noexcept {
  Team other = *this;
  other.packet_bytes_ = bytes;
  return other;
}

// The header of a frame must be in its first packet.
std::size_t Team::packet_bytes(DType type, std::size_t count) const noexcept {
  const std::size_t frame = max_bytes(type, count);
  const std::size_t bytes = std::max({packet_bytes_, frame / (most_packets - 1), frame_header_bytes});
  return packet_bytes_ == 0 || frame <= bytes ? 0 : bytes;
}

// ---- Frames and failures

Buffer Team::scratch(Place& place, std::size_t bytes) noexcept {
  try {
    return place.scratch(bytes);
  } catch (const Error& error) {
    note(error.status());
  } catch (...) {
    note(Status::out_of_memory);
  }
  return {};
}

Frames Team::empty(DType type, std::size_t count, int n) noexcept {
  const std::size_t bytes =
      n == 1 ? max_bytes(type, count) : frame_room(max_bytes(type, count)) * static_cast<std::size_t>(n);
  return {scratch(bytes), 0, type, count};
}

Frames Team::empty(ConstSlice largest, int n) noexcept { return empty(largest.type, largest.count, n); }

Buffer Team::blocks_of_values(ConstSlice largest, int n) noexcept {
  return scratch(*values_, largest.bytes() * static_cast<std::size_t>(n));
}

// Appends the frame that was written to the free room, or an error frame if making the frame failed.
void Team::append(Frames& to, SizeOrStatus made, std::size_t count) noexcept {
  note(made.status);
  if (made.status == Status::ok) {
    counters_->value_bytes += count * size_of(to.type);
    counters_->frame_bytes += made.bytes;
  } else {
    made.bytes = write_error_frame(made.status, to.type, count, to.room()).size();
  }
  to.bytes += made.bytes;
}

// ---- Copies

void Team::copy(const Frames& from, int i, Frames& to) noexcept {
  const ConstBytes frame = from.part(i, 1);
  if (to.buffer.data() == nullptr) return;
  const Status status =
      frame.empty() ? Status::peer_failed : place_->copy(to.room().data(), frame.data(), frame.size());
  if (status != Status::ok) return append(to, {status}, to.count);
  to.bytes += frame.size();
}

void Team::copy(ConstSlice from, Slice to) noexcept {
  if (to.data != nullptr && to.data != from.data && to.count != 0)
    note(values_->copy(to.as_bytes().data(), from.as_bytes().data(), to.bytes()));
}

Status Team::reduce_widely(const Buffer& operands, int n, Slice result, Reduction op, int divisor) noexcept {
  const Status status = values_->reduce_widely(operands.data(), n, result, op, divisor);
  note(status);
  return status;
}

// ---- Communication

ConstBytes Team::outgoing(ConstBytes frames) const noexcept {
  MessageMemory* const memory = place_->message_memory();
  if (memory == nullptr || frames.empty()) return frames;
  const ConstBytes there = memory->outgoing(frames);
  if (there.empty()) counters_->note(Status::device_failed);
  return there;
}

Sending::Sending(const Team& team, const Frames& frames, int first, int n, int to) : waiting_(team) {
  ConstBytes bytes = team.outgoing(frames.part(first, n));
  if (bytes.empty()) bytes = write_error_frame(Status::peer_failed, frames.type, frames.count, error_frame_);
  bytes_ = bytes.size();
  pending_ = team.transport_->send(bytes, team.address(to), team.lane_);
  if (team.counts_messages_)
    team.counters_->sent(bytes_, static_cast<std::size_t>(n) * frames.count * size_of(frames.type));
}

Receiving::Receiving(Team& team, int from, ConstSlice like)
    : team_(team), waiting_(team), own_(team.empty(like, 1)), into_(own_), expected_(1) {
  start(from);
}

Receiving::Receiving(Team& team, int from, Frames& into, int n)
    : team_(team), waiting_(team), into_(into), expected_(n) {
  start(from);
}

void Receiving::start(int from) {
  largest_ = team_.max_bytes(into_.type, into_.count);
  const bool none = into_.buffer.data() == nullptr;
  const Bytes room = none ? Bytes(error_frame_) : into_.room();
  const std::size_t most = largest_ * static_cast<std::size_t>(expected_);
  Bytes message = room.first(std::min(room.size(), most));
  if (MessageMemory* const memory = team_.place_->message_memory()) message = memory->incoming(message);
  pending_ = team_.transport_->recv(message, team_.address(from), team_.lane_);
}

// Appends the expected number of frames: those of the message, and error frames in the place of missing ones.
Status Receiving::take(ConstBytes message) noexcept {
  std::size_t used = 0;
  int frames = 0;
  for (; frames < expected_; ++frames) {
    const std::size_t size = frame_size(message.subspan(used));
    if (size == 0 || size > largest_) break;
    used += size;
  }
  into_.bytes += used;
  const bool is_error =
      frames == 1 && message.size() == frame_header_bytes;  // an error frame in place of all frames
  const bool whole = frames == expected_ && used == message.size();
  for (; frames < expected_; ++frames)
    into_.bytes += write_error_frame(Status::peer_failed, into_.type, into_.count, into_.room()).size();
  return whole ? Status::ok : is_error ? Status::peer_failed : Status::corrupt_frame;
}

Frames Receiving::result() noexcept {
  SizeOrStatus moved = pending_.result();
  waiting_.over(moved.bytes);
  MessageMemory* const memory = team_.place_->message_memory();
  if (memory != nullptr && into_.buffer.data() != nullptr && moved.status == Status::ok)
    moved.status = memory->arrived(into_.room().first(moved.bytes));
  team_.note(moved.status);
  if (into_.buffer.data() != nullptr)
    team_.note(take(into_.room().first(moved.status == Status::ok ? moved.bytes : 0)));
  return std::move(own_);
}

}  // namespace taut

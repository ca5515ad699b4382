#include "communication/team/relay.hpp"

#include <algorithm>

namespace taut {
namespace {

// Returns packet `i` of a frame, or of the room for a frame; all of it if a packet has 0 bytes.
template <class Memory>
Memory packet_of(Memory frame, std::size_t i, std::size_t packet_bytes) noexcept {
  if (packet_bytes == 0) return frame;
  const std::size_t begin = std::min(i * packet_bytes, frame.size());
  return frame.subspan(begin, std::min(packet_bytes, frame.size() - begin));
}

std::size_t packets_in(std::size_t frame, std::size_t packet_bytes) noexcept {
  return packet_bytes == 0 ? 1 : frame / packet_bytes + 1;
}

}  // namespace

bool Relay::Held::are_sent() {
  return std::ranges::all_of(sends, [](Pending& send) { return send.ready(); });
}

void Relay::start(Frames frame, bool on) {
  const Frames& own = held_[newest_].frame = std::move(frame);
  if (!on) return;
  const std::size_t packet_bytes = team_.packet_bytes(own.type, own.count);
  const ConstBytes all = own.part(0, 1);
  for (std::size_t i = 0; i < packets_in(all.size(), packet_bytes); ++i)
    pass_on(i, packet_of(all, i, packet_bytes));
}

Relay& Relay::pass(Slice values, bool on) noexcept {
  next_ = {};
  next_.values = values;
  next_.on = on;
  next_.packet_bytes = team_.packet_bytes(values.type, values.count);
  waiting_.emplace(team_);
  receives_ = true;
  return *this;
}

Relay& Relay::rest() noexcept {
  receives_ = false;
  return *this;
}

bool Relay::ready() {
  if (!receives_) return held_[0].are_sent() && held_[1].are_sent();
  if (next_.started == 0) {
    if (!held_[1 - newest_].are_sent()) return false;
    newest_ = 1 - newest_;
    Frames& frame = held_[newest_].frame;
    frame = {};  // its memory serves the next frame
    frame = team_.empty(next_.values, 1);
    receive();
  }
  while (next_.receives[next_.taken].ready()) {
    if (!take()) continue;
    waiting_->over(next_.bytes);
    return true;
  }
  return false;
}

// Returns the room for the frame that arrives. Without memory, packets go to the memory of the values, so
// that their sizes are known, and a whole frame to a spare header.
Bytes Relay::room() noexcept {
  const Bytes all = held_[newest_].frame.buffer.bytes();
  if (!all.empty())
    return all.first(std::min(all.size(), team_.max_bytes(next_.values.type, next_.values.count)));
  return next_.packet_bytes == 0 || next_.values.data == nullptr ? Bytes(spare_) : next_.values.as_bytes();
}

// Starts to receive the next packet.
void Relay::receive() {
  Bytes to = packet_of(room(), next_.started, next_.packet_bytes);
  if (MessageMemory* const memory = team_.place_->message_memory()) to = memory->incoming(to);
  next_.receives[next_.started++] = team_.transport_->recv(to, team_.address(from_), team_.lane_);
}

// Takes the packet that has arrived. Returns true if it is the last one of the frame.
bool Relay::take() {
  const std::size_t i = next_.taken++;
  const SizeOrStatus moved = next_.receives[i].result();
  const ConstBytes packet =
      packet_of(room(), i, next_.packet_bytes).first(moved.status == Status::ok ? moved.bytes : 0);
  team_.note(moved.status);
  next_.bytes += packet.size();
  if (i == 0) expect();
  const bool is_short = packet.size() < next_.packet_bytes || next_.packet_bytes == 0;
  const bool last =
      next_.packets > 0 ? next_.taken == next_.packets : is_short || next_.taken == Team::most_packets;
  next_.damaged |= moved.status != Status::ok || is_short != last;
  if (last) inspect_frame();
  if (next_.on) pass_on(i, i == 0 && last ? frame().part(0, 1) : packet);
  while (!last && next_.started < std::max(next_.packets, next_.taken + 1)) receive();
  return last;
}

// Reads from the header of a frame how many packets it has.
void Relay::expect() noexcept {
  FrameHeader header;
  if (next_.packet_bytes == 0 || next_.bytes < frame_header_bytes) return;
  if (read_header(room(), header) != Status::ok) return;
  const std::size_t packets = packets_in(frame_header_bytes + header.payload_bytes, next_.packet_bytes);
  if (packets <= Team::most_packets) next_.packets = packets;
}

// Accepts the frame once it is there. A damaged one has failed.
void Relay::inspect_frame() noexcept {
  Frames& frame = held_[newest_].frame;
  if (frame.buffer.data() == nullptr) return;
  const Bytes all = room().first(std::min(next_.bytes, room().size()));
  MessageMemory* const memory = team_.place_->message_memory();
  if (memory != nullptr && !next_.damaged) team_.note(memory->arrived(all));
  if (!next_.damaged && !all.empty() && frame_size(all) == next_.bytes)
    frame.bytes = next_.bytes;
  else
    team_.note(Status::corrupt_frame);
}

// Sends a packet of the newest frame; an error frame in the place of a frame that has failed.
void Relay::pass_on(std::size_t packet, ConstBytes bytes) {
  Held& held = held_[newest_];
  const Frames& frame = held.frame;
  if (frame.buffer.data() == nullptr && packet > 0) return;
  bytes = team_.outgoing(bytes);
  if (packet == 0 && (bytes.empty() || frame.buffer.data() == nullptr))
    bytes = write_error_frame(Status::peer_failed, frame.type, frame.count, held.error_frame);
  held.sends[packet] = team_.transport_->send(bytes, team_.address(to_), team_.lane_);
  team_.counters_->sent(bytes.size(), packet == 0 ? frame.count * size_of(frame.type) : 0);
}

}  // namespace taut

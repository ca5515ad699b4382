#include "packets.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

namespace simulation {
namespace {

using taut::Slice;

// Stream of packets from the rank before to the rank behind.
class Stream {
 public:
  explicit Stream(const PacketRank& rank)
      : rank_(rank), memory_(rank.packet_bytes), me_(rank.transport.rank()), P_(rank.transport.size()) {}
  ~Stream() {
    while (!sent_.empty()) wait_for_first();
  }

  // Passes a frame of so many bytes on, packet by packet. `receives`: it comes from the rank before; `sends`:
  // it goes to the rank behind.
  void pass(std::size_t bytes, bool receives, bool sends) {
    for (std::size_t done = 0; done < bytes; done += rank_.packet_bytes) {
      const std::size_t size = std::max(std::min(rank_.packet_bytes, bytes - done), taut::frame_header_bytes);
      const taut::Bytes packet(memory_.data(), size);
      if (receives) {
        taut::Pending arrival = rank_.transport.recv(packet, (me_ + P_ - 1) % P_, 0);
        while (!arrival.ready()) rank_.processor.wait();
      }
      if (!sends) continue;
      taut::write_header({.count = 1, .payload_bytes = size - taut::frame_header_bytes}, packet);
      sent_.push_back(rank_.transport.send(packet, (me_ + 1) % P_, 0));
      if (sent_.size() > most_sends) wait_for_first();
    }
  }

 private:
  static constexpr std::size_t most_sends = 16;  // packets that are under way at a time

  void wait_for_first() {
    while (!sent_.front().ready()) rank_.processor.wait();
    sent_.pop_front();
  }

  const PacketRank& rank_;
  std::vector<std::byte> memory_;  // packets have no content
  int me_, P_;
  std::deque<taut::Pending> sent_;
};

// Room for a frame of so many values. The memory is not cleared, so that most of it is never touched.
struct Frame {
  Frame(const PacketRank& rank, taut::ConstSlice values)
      : size(rank.codec.max_bytes(values.type, values.count, 1)),
        memory(std::make_unique_for_overwrite<std::byte[]>(size)),
        bytes(memory.get(), size) {}
  std::size_t size;
  std::unique_ptr<std::byte[]> memory;
  taut::Bytes bytes;
};

void allgather(const PacketRank& rank, const taut::Operands& data) {
  const int P = rank.transport.size(), me = rank.transport.rank();
  const auto block_of = [&](int i) {
    return block(static_cast<const Slice&>(data.out), static_cast<std::size_t>(i),
                 static_cast<std::size_t>(P));
  };
  const Frame own(rank, data.in);
  const taut::Bytes frame = own.bytes;
  rank.codec.encode(data.in, frame);
  Stream stream(rank);
  stream.pass(rank.codec.frame_bytes(block_of(me)), false, true);
  rank.codec.decode(frame, block_of(me));
  for (int s = 1; s < P; ++s) {
    const Slice next = block_of((me - s + P) % P);
    stream.pass(rank.codec.frame_bytes(next), true, s + 1 < P);
    rank.codec.decode(frame, next);
  }
}

void bcast(const PacketRank& rank, const taut::Operands& data) {
  const int P = rank.transport.size(), me = rank.transport.rank();
  const Slice whole = data.out;
  const Frame room(rank, whole);
  const taut::Bytes frame = room.bytes;
  Stream stream(rank);
  for (int k = 0; k < rank.segments; ++k) {
    const Slice part = block(whole, static_cast<std::size_t>(k), static_cast<std::size_t>(rank.segments));
    if (me == 0) rank.codec.encode(part, frame);
    stream.pass(rank.codec.frame_bytes(part), me > 0, me + 1 < P);
    if (me > 0) rank.codec.decode(frame, part);
  }
}

}  // namespace

void forward_in_packets(const PacketRank& rank, const taut::Operands& data, taut::Collective collective) {
  switch (collective) {
    case taut::Collective::allgather: return allgather(rank, data);
    case taut::Collective::bcast: return bcast(rank, data);
    default: throw taut::Error(taut::Status::invalid_argument, "packets= serves allgather and bcast alone");
  }
}

}  // namespace simulation

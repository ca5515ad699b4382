// Relay: frames that come from one rank and go on to another, as in a chain or a ring. A frame travels in
// packets of one size, and each packet goes on as soon as it has arrived, so that no rank waits for the whole
// of a large frame before the next rank gets its first part. Balanced communication of Huang et al.,
// "C-Coll", IPDPS 2024.
//
// Only the last packet of a frame is shorter than the others. The header, in the first packet, tells how many
// there are. If the header is damaged, the short packet ends the frame.
#pragma once

#include <array>
#include <optional>

#include "communication/team/team.hpp"

namespace taut {

class Relay final : public Waitable {
 public:
  // Frames come from rank `from` and go to rank `to`.
  Relay(Team& team, int from, int to) noexcept : team_(team), from_(from), to_(to) {}
  Relay(const Relay&) = delete;

  // Holds a frame of this rank, and starts to send it if `on` is true.
  void start(Frames frame, bool on);

  // Receives the frame of `values` without decoding it, and passes it on if `on` is true: await the result.
  Relay& pass(Slice values, bool on) noexcept;
  // Waits until everything is sent: await the result.
  Relay& rest() noexcept;

  // Returns the frame that this rank has started or received last.
  const Frames& frame() const noexcept { return held_[newest_].frame; }

  bool ready() override;
  void result() const noexcept {}

 private:
  struct Held {
    Frames frame;
    std::byte error_frame[frame_header_bytes];  // is sent if the frame failed on this rank
    std::array<Pending, Team::most_packets> sends;
    bool are_sent();
  };
  // A frame as it arrives.
  struct Arrival {
    Slice values;
    bool on = false, damaged = false;
    std::size_t packet_bytes = 0, bytes = 0;  // of a whole packet; of the packets so far
    std::size_t packets = 0;                  // of the frame; 0: not known
    std::size_t started = 0, taken = 0;       // packets
    std::array<Pending, Team::most_packets> receives;
  };

  Bytes room() noexcept;
  void expect() noexcept;
  void receive();
  bool take();
  void inspect_frame() noexcept;
  void pass_on(std::size_t packet, ConstBytes bytes);

  Team& team_;
  int from_, to_;
  std::size_t newest_ = 0;
  std::array<Held, 2> held_;  // the newest frame, and the one before while it is sent
  bool receives_ = false;
  Arrival next_;
  std::optional<Waiting> waiting_;
  std::byte spare_[frame_header_bytes];  // where a whole frame goes if there is no memory for it
};

}  // namespace taut

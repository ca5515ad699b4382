// Messages in flight with several ranks at the same time.
#pragma once

#include <array>
#include <optional>

#include "communication/team/coding.hpp"

namespace taut {

// Usage: start up to `most` messages each way, await the received ones one by one, and then the batch itself,
// which is ready when all sends are complete.
class MessageBatch final : public Waitable {
 public:
  static constexpr int most = FrameArithmetic::max_operands - 1;  // a sum takes `most` frames and one more

  explicit MessageBatch(Team& team) noexcept : team_(team) {}
  MessageBatch(const MessageBatch&) = delete;

  void recv(int from, ConstSlice like) { receiving_[received_++].emplace(team_, from, like); }
  void recv(int from, Frames& into, int n) { receiving_[received_++].emplace(team_, from, into, n); }
  void send(const Frames& frame, int to) { send(frame, 1, to); }
  void send(const Frames& frames, int n, int to) {  // `frames` must not move
    sending_[sent_++].emplace(team_, frames, 0, n, to);
  }
  void send(Frames&& frame, int to) {
    frames_[sent_] = std::move(frame);
    send(std::as_const(frames_[sent_]), to);
  }

  Receiving& operator[](int i) { return *receiving_[static_cast<std::size_t>(i)]; }  // in the order of recv

  bool ready() override {
    bool all_sent = true;
    for (std::size_t i = 0; i < sent_; ++i) all_sent &= sending_[i]->ready();
    return all_sent;
  }
  void result() const noexcept {}

 private:
  Team& team_;
  std::size_t received_ = 0, sent_ = 0;
  std::array<Frames, most> frames_;
  std::array<std::optional<Receiving>, most> receiving_;
  std::array<std::optional<Sending>, most> sending_;
};

}  // namespace taut

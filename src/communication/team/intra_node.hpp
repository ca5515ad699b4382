// Node peers: the ranks of a team on this rank's node, among which values travel uncompressed.
//
// Failure rule, as for frames: once the call has failed on a rank, every message of values that the rank
// sends is one byte short. The receivers detect the failure by the length.
#pragma once

#include "communication/team/team.hpp"

namespace taut {

class ValueSend;
class ValueReceive;
class ValueExchange;

class NodePeers {
 public:
  // `ranks`: ranks of the team, in the order of their numbers in this object; this rank must be among them.
  NodePeers(const Team& team, std::span<const int> ranks) noexcept : team_(team.among(ranks)) {}

  int rank() const noexcept { return team_.rank(); }
  int size() const noexcept { return team_.size(); }

  // Memory for values. If there is none, `values` has no data and the failure is recorded.
  struct Memory {
    Buffer buffer;
    Slice values;
  };
  Memory memory(std::size_t count, DType type) noexcept;

  // copy: to <- from, which may be the same memory. combine: values <- values op others. Both functions do
  // nothing once the call has failed.
  void copy(ConstSlice from, Slice to) noexcept;
  void combine(Slice values, ConstSlice others, Reduction op) noexcept;

  // Messages of values; the results are to be awaited. A message to or from `nobody` is not sent, as with
  // MPI_PROC_NULL.
  static constexpr int nobody = -1;
  ValueSend send(ConstSlice values, int to);
  ValueReceive recv(Slice values, int from);
  ValueExchange exchange(ConstSlice mine, int to, Slice theirs, int from);

 private:
  friend class ValueSend;
  friend class ValueReceive;

  Team team_;
};

class ValueSend final : public Waitable {
 public:
  ValueSend(NodePeers& node, ConstSlice values, int to);
  ValueSend(const ValueSend&) = delete;
  bool ready() override { return pending_.ready(); }
  void result() const noexcept {
    pending_.result();
    waiting_.over(bytes_);
  }

 private:
  ConstSlice staged(Team& team, ConstSlice values) noexcept;

  Waiting waiting_;
  std::size_t bytes_;  // size of the message; MPI's status of a send has none
  Buffer staging_;     // memory of the message, if the host cannot access the values
  Pending pending_;
};

class ValueReceive final : public Waitable {
 public:
  ValueReceive(NodePeers& node, Slice values, int from);
  ValueReceive(const ValueReceive&) = delete;
  bool ready() override { return pending_.ready(); }
  void result() noexcept;

 private:
  Team& team_;
  Waiting waiting_;
  Slice values_;
  std::size_t expected_;  // bytes
  Buffer staging_;        // memory of the message, if the host cannot access the values
  Pending pending_;
};

class ValueExchange final : public Waitable {
 public:
  ValueExchange(NodePeers& node, ConstSlice mine, int to, Slice theirs, int from)
      : taking_(node, theirs, from), passing_(node, mine, to) {}
  bool ready() override {
    const bool passed = passing_.ready();
    return taking_.ready() && passed;
  }
  void result() noexcept { taking_.result(); }

 private:
  ValueReceive taking_;
  ValueSend passing_;
};

inline ValueSend NodePeers::send(ConstSlice values, int to) { return ValueSend(*this, values, to); }
inline ValueReceive NodePeers::recv(Slice values, int from) { return ValueReceive(*this, values, from); }
inline ValueExchange NodePeers::exchange(ConstSlice mine, int to, Slice theirs, int from) {
  return ValueExchange(*this, mine, to, theirs, from);
}

}  // namespace taut

// Node peers: the ranks of a team on this rank's node, which exchange values uncompressed.
//
// Failure rule, as for frames: once the call has failed on a rank, every message of values that the rank
// sends is one byte short. The receivers detect the failure by the length. NodeWork has a flag for it.
#pragma once

#include <array>
#include <optional>

#include "communication/team/team.hpp"
#include "compressor/base/guarded.hpp"

namespace taut {

class ValueSend;
class ValueReceive;
class ValueExchange;
class NodeWorking;

class NodePeers {
 public:
  // `ranks`: ranks of the team; rank i of this object is ranks[i]. This rank must be among them.
  NodePeers(const Team& team, std::span<const int> ranks) noexcept : team_(team.among(ranks)) {}

  int rank() const noexcept { return team_.rank(); }
  int size() const noexcept { return team_.size(); }

  // Memory for values. If the allocation fails, `values.data` is null and the failure is recorded.
  struct Memory {
    Buffer buffer;
    Slice values;
  };
  Memory memory(std::size_t count, DType type) noexcept;

  // copy: to <- from, which may be the same memory. combine: values <- values op operand. Both functions do
  // nothing once the call has failed.
  void copy(ConstSlice from, Slice to) noexcept;
  void combine(Slice values, ConstSlice operand, Reduction op) noexcept;

  // Messages of values; the caller awaits the results. A message to or from `no_rank` is not sent, as with
  // MPI_PROC_NULL.
  static constexpr int no_rank = -1;
  ValueSend send(ConstSlice values, int to);
  ValueReceive recv(Slice values, int from);
  ValueExchange exchange(ConstSlice sent, int to, Slice received, int from);

  // Returns true if the transport itself copies and reduces the values, which are on GPUs.
  bool does_work() const noexcept { return !team_.values_->on_host() && team_.transport_->does_node_work(); }
  // Returns work with the blocks that fill(blocks) appends. If there is no memory for them, the work has
  // failed.
  template <class Fill>
  NodeWork work(NodeWork::Kind kind, Reduction op, const Fill& fill) noexcept {
    NodeWork work{kind, op, team_.segment_, false};
    team_.note(guarded([&] { fill(work.blocks); }));
    work.failed = team_.failed() != Status::ok;
    return work;
  }
  NodeWorking run(NodeWork work);  // the caller awaits the result

 private:
  friend class ValueSend;
  friend class ValueReceive;
  friend class NodeWorking;

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
  std::size_t bytes_;  // size of the message, which MPI's status of a send does not have
  Buffer staging_;     // memory of the message, if the transport cannot access the values
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
  Buffer staging_;        // memory of the message, if the transport cannot access the values
  Pending pending_;
};

class ValueExchange final : public Waitable {
 public:
  ValueExchange(NodePeers& node, ConstSlice sent, int to, Slice received, int from)
      : receive_(node, received, from), send_(node, sent, to) {}
  bool ready() override {
    const bool sent = send_.ready();
    return receive_.ready() && sent;
  }
  void result() noexcept { receive_.result(); }

 private:
  ValueReceive receive_;
  ValueSend send_;
};

// Messages of values to and from several ranks, in flight together. The batch is ready when all are complete.
class ValueBatch final : public Waitable {
 public:
  static constexpr std::size_t most = 8;  // sends, and as many receives

  explicit ValueBatch(NodePeers& node) noexcept : node_(node) {}
  ValueBatch(const ValueBatch&) = delete;

  void send(ConstSlice values, int to) { sends_[sent_++].emplace(node_, values, to); }
  void recv(Slice values, int from) { receives_[received_++].emplace(node_, values, from); }

  bool ready() override {
    bool all = true;
    for (std::size_t i = 0; i < sent_; ++i) all &= sends_[i]->ready();
    for (std::size_t i = 0; i < received_; ++i) all &= receives_[i]->ready();
    return all;
  }
  void result() noexcept {
    for (std::size_t i = 0; i < sent_; ++i) sends_[i]->result();
    for (std::size_t i = 0; i < received_; ++i) receives_[i]->result();
  }

 private:
  NodePeers& node_;
  std::size_t sent_ = 0, received_ = 0;
  std::array<std::optional<ValueSend>, most> sends_;
  std::array<std::optional<ValueReceive>, most> receives_;
};

class NodeWorking final : public Waitable {
 public:
  NodeWorking(NodePeers& node, NodeWork work)
      : team_(node.team_), waiting_(node.team_), pending_(team_.transport_->start(std::move(work))) {}
  NodeWorking(const NodeWorking&) = delete;
  bool ready() override { return pending_.ready(); }
  void result() noexcept {
    const SizeOrStatus moved = pending_.result();
    waiting_.over(moved.bytes);
    team_.note(moved.status);
  }

 private:
  Team& team_;
  Waiting waiting_;
  Pending pending_;
};

inline NodeWorking NodePeers::run(NodeWork work) { return NodeWorking(*this, std::move(work)); }
inline ValueSend NodePeers::send(ConstSlice values, int to) { return ValueSend(*this, values, to); }
inline ValueReceive NodePeers::recv(Slice values, int from) { return ValueReceive(*this, values, from); }
inline ValueExchange NodePeers::exchange(ConstSlice sent, int to, Slice received, int from) {
  return ValueExchange(*this, sent, to, received, from);
}

}  // namespace taut

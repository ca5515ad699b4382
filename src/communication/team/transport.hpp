// Interface of transports, which move bytes between ranks. A transport is independent of values and codecs.
#pragma once

#include <cstdint>
#include <vector>

#include "communication/team/task.hpp"
#include "compressor/base/status.hpp"
#include "compressor/values/reduction.hpp"

namespace taut {

// Messages from one rank to another arrive in order within a lane; lanes are independent of each other.
using Lane = int;
inline constexpr Lane lanes = 1 << 14;  // every transport offers the lanes 0 .. lanes - 1

class Transport;

// Pending: a send or receive in flight, to be polled or awaited. Awaiting yields the bytes moved. A received
// message that is longer than the capacity is consumed and yields frame_mismatch.
class [[nodiscard]] Pending final : public Waitable {
 public:
  Pending() = default;  // finished, nothing moved
  Pending(Transport& transport, std::uint64_t operation) noexcept
      : transport_(&transport), operation_(operation) {}
  Pending(Pending&& other) noexcept { swap(other); }
  Pending& operator=(Pending&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Pending();

  bool ready() override;
  SizeOrStatus result() const noexcept { return moved_; }

 private:
  void swap(Pending& other) noexcept {
    std::swap(transport_, other.transport_);
    std::swap(operation_, other.operation_);
    std::swap(moved_, other.moved_);
  }

  Transport* transport_ = nullptr;  // null: finished
  std::uint64_t operation_ = 0;
  SizeOrStatus moved_;
};

// Number of messages and bytes that a rank has sent.
struct Traffic {
  std::uint64_t messages = 0, bytes = 0;
};

// Work on values that are on the GPUs of one node. All ranks of the node start it, in one order within a
// segment of a call. Ranks are numbered by their places on the node.
struct NodeWork {
  enum class Kind : std::uint8_t {
    reduce,  // `to` of the receiver <- `from` of all ranks, combined. Rows of one block for each rank
    share,   // `to` of all ranks <- `from` of the sender, which is its `to`. One block for each rank
    move     // `to` of the receiver <- `from` of the sender
  };
  struct Block {
    ConstSlice from;
    Slice to;
    int sender, receiver;
  };
  Kind kind;
  Reduction op;
  int segment;  // below 64
  bool failed;  // on this rank the call has failed: no rank does the work, and all get peer_failed
  std::vector<Block> blocks = {};
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;

  // Start a send or a receive. The memory must stay in place until the operation is finished. These functions
  // and the Pending throw Error(transport_failed), for instance when a rank is gone. After that nothing can
  // be sent or received any more.
  Pending send(ConstBytes bytes, int to, Lane lane);
  Pending recv(Bytes capacity, int from, Lane lane);

  // Returns true if messages to all ranks take no longer than a message to one.
  bool sends_to_all_at_once() const noexcept { return sends_to_all_at_once_; }
  // Returns true if the transport does NodeWork: values on GPUs then need no messages on a node.
  bool does_node_work() const noexcept { return does_node_work_; }
  Pending start(NodeWork work) { return Pending(*this, start_node_work(std::move(work))); }

  const Traffic& traffic() const noexcept { return traffic_; }

 protected:
  explicit Transport(bool sends_to_all_at_once = false) noexcept
      : sends_to_all_at_once_(sends_to_all_at_once) {}
  void set_does_node_work(bool does) noexcept { does_node_work_ = does; }

 private:
  friend class Pending;

  // Start an operation. The returned number identifies the operation until poll() has found it finished.
  virtual std::uint64_t start_send(ConstBytes bytes, int to, Lane lane) = 0;
  virtual std::uint64_t start_recv(Bytes capacity, int from, Lane lane) = 0;
  virtual std::uint64_t start_node_work(NodeWork) { throw Error(Status::internal, "no work on a node"); }
  virtual bool poll(std::uint64_t& operation, SizeOrStatus& moved) = 0;
  // Abandons an unfinished operation: its memory is not accessed any more, as far as the transport can ensure
  // that.
  virtual void abandon(std::uint64_t operation) noexcept = 0;

  Traffic traffic_;
  bool sends_to_all_at_once_, does_node_work_ = false;
};

inline Pending::~Pending() {
  if (transport_ != nullptr) transport_->abandon(operation_);
}

inline bool Pending::ready() {
  if (transport_ != nullptr && transport_->poll(operation_, moved_)) transport_ = nullptr;
  return transport_ == nullptr;
}

inline Pending Transport::send(ConstBytes bytes, int to, Lane lane) {
  Pending pending(*this, start_send(bytes, to, lane));
  ++traffic_.messages;
  traffic_.bytes += bytes.size();
  return pending;
}

inline Pending Transport::recv(Bytes capacity, int from, Lane lane) {
  return Pending(*this, start_recv(capacity, from, lane));
}

}  // namespace taut

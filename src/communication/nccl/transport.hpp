// NcclTransport is a Transport over ncclSend and ncclRecv on a communicator of the user.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "communication/gpu/device.hpp"
#include "communication/gpu/stream_order.hpp"
#include "communication/nccl/node_comm.hpp"
#include "communication/team/transport.hpp"

namespace taut::nccl {

// Conditions under which the waits of a transport end with an error. Any thread may set them.
struct WaitLimits {
  std::atomic<bool> aborted{false};
  std::atomic<std::uint64_t> deadline_ns{0};  // in the time of clock_now(); 0: none
  std::atomic<const char*> timeout_text{""};  // text of the error after the deadline

  // Sets the deadline `seconds` from now, and the text of the error after it. 0: no deadline.
  void set_timeout(int seconds, const char* error_text) noexcept;
  void clear_timeout() noexcept { deadline_ns = 0; }
  // Returns true if the deadline passed more than `grace_ns` nanoseconds ago.
  bool expired(std::uint64_t grace_ns = 0) const noexcept;
  // Throws Error(transport_failed) if waits have to end.
  void check() const;
};

// Moves messages in rounds in which all ranks take part. In a round, each rank first sends every other rank a
// control message with the headers of the messages that it has for that rank. Short messages are eager: their
// content is in the header. The others are rendezvous messages: one group of NCCL then moves exactly their
// bytes. If a rendezvous message consists of frames on the GPU, its header contains those of the frames, so
// that the receiver need not fetch them. NCCL thus sees the same calls on both sides, whatever the algorithms
// and in whatever order messages are started. This class matches messages by lane, and keeps unexpected
// messages: those that arrive before their receive is started.
//
// Work on the values of a node (NodeWork) is part of a round too: the ranks announce what they have started.
// Every rank of the node enqueues the work that all of them have started, in the order of the segments, on a
// communicator of the node. The first round with such work makes this communicator.
//
// Memory of messages is on the GPU or pinned; short messages may be in any memory of the host.
class NcclTransport final : public Transport {
 public:
  // `limits`: limits of the waits; null: waits are unlimited. Throws Error if the communicator cannot be
  // used.
  NcclTransport(const Library& nccl, const gpu::DeviceServices& services, ncclComm* comm,
                const WaitLimits* limits = nullptr);

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  int device() const noexcept { return device_; }

  // Sets the nodes whose ranks do NodeWork. All ranks call it with the same nodes, if NodeComm::can_split()
  // is true on all of them.
  void set_nodes(const Nodes& nodes) {
    node_.set_nodes(nodes);
    set_does_node_work(nodes.several());
  }

  // Returns the communicator of this rank's node, which exists once open_node() was called. All ranks call
  // open_node() at the same place among their calls.
  const NodeComm& node() const noexcept { return node_; }
  void open_node() { node_.open(comm_, rank_); }
  // Ends the communicator of the node after a failure.
  void abort_node() noexcept { node_.abort(); }
  // Does so if NCCL has noticed an error on the communicator of all ranks, which still exists.
  void abort_node_after_error() noexcept;

  // Sets the devices whose memory holds frames of messages; null: all frames are on the host.
  void set_devices(const gpu::Devices* devices) noexcept { devices_ = devices; }

  // Begins a call. All its work is enqueued on `stream`.
  void begin_call(void* stream) noexcept;

  // Returns true if the call has started a message or work on the node.
  bool has_messages() const noexcept { return has_messages_; }
  // Returns true if a poll since the last round found an unfinished message or work, which only a round can
  // complete.
  bool needs_round() const noexcept { return needs_round_; }

  // Takes part in a round. `complete`: the call is complete on this rank. Returns true if the call is
  // complete on all ranks; that round is the last. Throws Error if NCCL or CUDA fails, after which nothing
  // can be sent.
  bool run_round(bool complete);

  // Returns the bytes of all ranks, in the order of ranks. `bytes`: those of this rank, as many on each rank.
  std::vector<std::byte> allgather(ConstBytes bytes);
  template <class Value>
  std::vector<Value> allgather_value(const Value& own) {
    const std::vector<std::byte> all = allgather(std::as_bytes(std::span(&own, 1)));
    const auto* const first = reinterpret_cast<const Value*>(all.data());
    return {first, first + size_};
  }

  // Waits until the stream is idle. Throws Error if NCCL or CUDA reports an error meanwhile.
  void wait();
  // Waits for a point in another stream in the same way.
  void wait(gpu::StreamPoint& point);
  // Returns the number of calls of wait() so far.
  std::uint64_t waits() const noexcept { return waits_; }

 private:
  // Limits of a control message, which is about 1 KiB. Further sends wait for the next round.
  static constexpr std::size_t max_eager_bytes = 184, max_headers = 5;
  static constexpr std::size_t max_frame_headers = max_eager_bytes / frame_header_bytes;

  // Header of a message. `content`: the bytes of an eager message, which is short and in memory of the host;
  // or the headers of the frames of a rendezvous message.
  struct MessageHeader {
    std::int32_t lane;
    std::uint16_t eager;   // 1: an eager message
    std::uint16_t frames;  // number of frame headers in `content`
    std::uint64_t bytes;
    std::byte content[max_eager_bytes];
  };
  // Message from a rank to another at the beginning of a round.
  struct ControlMessage {
    std::uint64_t complete, headers;  // 1: the call is complete on this rank; number of headers
    std::uint64_t node_work, failed;  // bit k: work of segment k is started; the call has failed there
    MessageHeader header[max_headers];
  };

  // Send or receive that an algorithm has started.
  struct Message {
    std::uint64_t id;
    int peer;  // rank
    Lane lane;
    std::byte* data;
    std::size_t bytes;  // size of a send, capacity of a receive
    bool done = false;
    SizeOrStatus outcome = {};
  };
  // Work on the node that an algorithm has started.
  struct StartedWork {
    std::uint64_t id;
    NodeWork work;
    bool done = false;
    SizeOrStatus outcome = {};
  };
  // Message that has arrived before its receive was started.
  struct UnexpectedMessage {
    int from;
    Lane lane;
    std::size_t bytes;
    std::vector<std::byte> content;                      // bytes of an eager message
    std::unique_ptr<gpu::MemoryBlock> memory = nullptr;  // bytes of a rendezvous message
    MessageHeader header = {};                           // of a rendezvous message
  };

  std::uint64_t start_send(ConstBytes bytes, int to, Lane lane) override;
  std::uint64_t start_recv(Bytes capacity, int from, Lane lane) override;
  std::uint64_t start_node_work(NodeWork work) override;
  bool poll(std::uint64_t& operation, SizeOrStatus& outcome) override;
  void abandon(std::uint64_t operation) noexcept override;

  // Memory that work on the stream uses.
  struct Memory {
    explicit Memory(const gpu::DeviceServices& services) noexcept
        : pinned(services, gpu::MemoryKind::pinned), device(services, gpu::MemoryKind::plain) {}

    // In a round: the control messages to be sent, then those received. In allgather(): the bytes of all
    // ranks.
    gpu::MemoryBlock pinned, device;
    std::deque<UnexpectedMessage> unexpected;
    // Buffers for truncated messages, which are longer than their receives, until the round ends.
    std::vector<std::unique_ptr<gpu::MemoryBlock>> truncated;
  };

  // Returns work(), which uses `memory_`. If work() throws, ends the communicator of the node, and frees that
  // memory once the work enqueued on the stream is complete.
  template <class Work>
  auto with_memory(const Work& work);

  ControlMessage* control_messages(std::byte* at) const noexcept {
    return reinterpret_cast<ControlMessage*>(at);
  }
  std::size_t control_bytes() const noexcept {
    return sizeof(ControlMessage) * static_cast<std::size_t>(size_);
  }
  std::vector<Message*> write_control_messages(bool complete);
  bool run_round_now(bool complete);
  std::vector<std::byte> allgather_now(ConstBytes bytes);
  void exchange_control_messages();
  bool run_node_work();
  bool move_rendezvous(std::span<Message* const> sends);
  std::byte* receive_buffer(int from, const MessageHeader& header, std::vector<Message*>& received);
  void receive_eager(int from, const MessageHeader& header);
  void write_frame_headers(const Message& send, MessageHeader& header) const noexcept;
  void read_frame_headers(std::byte* message, const MessageHeader& header) const;
  void deliver(Message& recv, const std::byte* from, std::size_t bytes);
  Message* find_receive(int from, Lane lane) noexcept;
  void copy(void* to, const void* from, std::size_t bytes);
  template <class IsDone>
  void poll_until(const IsDone& is_done);

  const Library& nccl_;
  const gpu::DeviceServices& services_;
  ncclComm* comm_;
  const WaitLimits* limits_;
  const gpu::Devices* devices_ = nullptr;
  void* stream_ = nullptr;
  int rank_ = 0, size_ = 0, device_ = 0;
  bool has_messages_ = false, needs_round_ = false;
  std::uint64_t last_id_ = 0;  // of the last message or work on the node
  std::uint64_t waits_ = 0;
  std::deque<Message> sends_, recvs_;    // not finished, or finished but not yet polled
  std::vector<StartedWork> node_works_;  // not yet polled; at most one unfinished for each segment
  NodeComm node_;
  std::shared_ptr<Memory> memory_;
};

}  // namespace taut::nccl

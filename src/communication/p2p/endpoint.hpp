// Endpoint of messages that may be coded: TAUT_ calls on a communicator with a policy, or the program under
// the drop-in (docs/adr/0021). Its encoder and decoder are used by the threads of the process in turn.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "communication/comm/message_coder.hpp"
#include "communication/p2p/credit_channel.hpp"
#include "communication/p2p/mpi_message.hpp"
#include "communication/team/nodes.hpp"

namespace taut::p2p {

// Message coder that threads share. One thread at a time encodes or decodes.
class SharedMessageCoder {
 public:
  SharedMessageCoder(const Policy& policy, const MessageFormat& format, int threads);

  // Returns the values of a message with this layout as contiguous values, packed into `memory` if they have
  // gaps. Throws Error.
  ConstSlice values_in_a_row(const MpiMessage& message, const api::DatatypeLayout& kind, Buffer& memory);

  // Encodes the values of a message, or the first segment if others follow. `stream` names messages that are
  // likely to be alike.
  Message encode(ConstSlice values, std::uint64_t stream, const FollowingSegments& following,
                 const MessageHistory& history) noexcept;

  // Returns true if frames may refer to earlier messages.
  bool uses_history() const noexcept { return policy_.history > 0; }

  // Returns true if a message with so many bytes of values is coded only for a receiver on another node.
  bool stays_plain_on_a_node(std::size_t bytes) const noexcept;

  // Encodes segment `i` > 0, as MessageCoder::encode_segment().
  ConstBytes encode_segment(ConstSlice values, std::size_t i, Message& message) noexcept;

  // Moves a message that is kept for some time to a smaller buffer: the first buffer has room for all values.
  // Throws Error.
  void shrink(Message& message);

  // Decodes frames into `values`, which they must fill and must not overlap. `type`: DType of the values.
  Status decode(ConstBytes frames, std::uint8_t type, Bytes values, const WholeMessage& whole) noexcept;

  // Returns the GPUs that have values of messages.
  MessageDevices& devices() noexcept { return coder_.devices(); }

  // Returns host memory for a message whose values are on the device; null: on the host. Throws Error.
  Buffer scratch(std::size_t bytes, MessageDevice* device = nullptr);

  // Copies values between host memory and memory of the device, or of the host if it is null. Throws Error.
  void copy(void* to, const void* from, std::size_t bytes, MessageDevice* device);

 private:
  Policy policy_;
  std::shared_ptr<SharedPlace> place_ = std::make_shared<SharedPlace>(std::make_unique<HostPlace>());
  std::mutex mutex_;
  MessageCoder coder_;
};

// Private communicator of the segments of long messages behind the first (docs/adr/0022), and of credits. It
// has the histories of the messages of its endpoints.
class SegmentComm {
 public:
  // Makes the communicator. Collective over `parent`; throws Error.
  static std::shared_ptr<SegmentComm> make(MPI_Comm parent);
  ~SegmentComm();
  SegmentComm(const SegmentComm&) = delete;
  SegmentComm& operator=(const SegmentComm&) = delete;

  MPI_Comm handle() const noexcept { return comm_; }
  int size() const noexcept { return size_; }

  // Returns the rank here of a rank of `comm`; MPI_UNDEFINED if it has none.
  int rank_of(MPI_Comm comm, int rank) const;

  // Returns true if there are several nodes, and `rank` here is on that of this rank. has_nodes(): it may be.
  bool has_nodes() const noexcept { return nodes_.several(); }
  bool shares_node(int rank) const noexcept {
    return rank >= 0 && has_nodes() && nodes_.node(rank) == nodes_.node(rank_);
  }

  // Returns how a message with `bytes` of values is divided: into one segment if it is short, or if `dest`
  // has left earlier segments waiting. `dest`: rank here.
  FollowingSegments divide(std::size_t bytes, int dest) noexcept;

  // Records if `dest` has received the segments of a message while its sender waited.
  void note(int dest, std::size_t bytes, bool received) noexcept;

  CreditChannel& credits() noexcept { return *credits_; }
  SentStates& sent() noexcept { return *sent_; }
  ReceivedStates& received() noexcept { return received_; }

  // Says that credits travel here, on all ranks: the communicator is then freed once all of them are
  // received.
  void use_credits() noexcept { uses_credits_ = true; }
  bool uses_credits() const noexcept { return uses_credits_; }

  // Frees the communicator, in MPI_Finalize.
  void free() noexcept;

 private:
  explicit SegmentComm(MPI_Comm parent);

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Group group_ = MPI_GROUP_NULL;
  int rank_ = 0, size_ = 0;
  Nodes nodes_;
  std::mutex mutex_;
  std::uint32_t messages_ = 0;
  std::unordered_map<int, RetryBackoff> backoffs_;  // by destination
  std::shared_ptr<SentStates> sent_;
  ReceivedStates received_;
  std::unique_ptr<CreditChannel> credits_;
  bool uses_credits_ = false;
};

// Ends the credits of all such communicators. Called in MPI_Finalize by all ranks. `progress()` is called
// meanwhile.
void finish_credits(void (*progress)());

// Returns all such communicators of this process.
std::vector<SegmentComm*>& segment_comms() noexcept;

class Endpoint {
 public:
  Endpoint(const MessageFormat& format, bool checks_types, std::shared_ptr<SegmentComm> segments) noexcept
      : format_(format), checks_types_(checks_types), segments_(std::move(segments)) {}
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  virtual ~Endpoint() = default;

  const MessageFormat& format() const noexcept { return format_; }

  // Returns true if it is an error to receive a coded message of numbers as numbers of another type.
  bool checks_types() const noexcept { return checks_types_; }

  // Returns the communicator of the segments of long messages; null if none are sent in segments.
  const std::shared_ptr<SegmentComm>& segments() const noexcept { return segments_; }

  // Returns the most bytes of received messages that are kept for later ones to refer to; 0: none are.
  virtual std::size_t history_bytes() const noexcept = 0;

  // Returns the coder that decodes messages.
  virtual SharedMessageCoder& coder() noexcept = 0;

  // Counts a received message for reports. `recv`: its receive, with source and tag of the message.
  virtual void count(const MpiMessage& recv, const Message& message) noexcept = 0;

 private:
  MessageFormat format_;
  bool checks_types_;
  std::shared_ptr<SegmentComm> segments_;
};

// The endpoint of the program, while the drop-in serves its messages; otherwise null. The same on all ranks.
Endpoint* program_endpoint() noexcept;
void set_program_endpoint(Endpoint* endpoint) noexcept;

}  // namespace taut::p2p

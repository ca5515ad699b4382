// Histories of messages between two processes: values of earlier messages, which frames of later ones refer
// to (docs/adr/0110).
//
// A message leaves a state, its decoded values, under a number that its sender has drawn. The receiver that
// has decoded the message and keeps its values gives the sender credit for the state. Frames refer to states
// with credit only, so that a message that is cancelled, truncated, received out of turn or received past
// Taut is never one that a later frame needs. The sender tells the receiver which states it may forget.
#pragma once

#include <array>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "communication/comm/envelope.hpp"
#include "communication/comm/history.hpp"

namespace taut {

// Values of one message, as its receiver has decoded them.
class MessageState {
 public:
  // Allocates memory for values like these. Throws std::bad_alloc.
  explicit MessageState(ConstSlice like)
      : memory_(std::make_unique_for_overwrite<std::byte[]>(like.bytes())),
        count_(like.count),
        type_(like.type) {}

  Slice values() noexcept { return {{memory_.get(), count_, type_}}; }
  ConstSlice values() const noexcept { return {memory_.get(), count_, type_}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t count_;
  DType type_;
};

// States that a message refers to, the newest first. They are kept as long as this object lives.
struct HeldReferences {
  std::array<std::uint64_t, max_references> numbers{};
  std::array<std::shared_ptr<const MessageState>, max_references> states{};
  unsigned n = 0;
  bool pinned = false;  // of a sender: the receiver keeps the states until the message is over

  // Returns the references of the values at an offset of the message, in bytes.
  ChosenReferences at(std::size_t offset, std::size_t count) const noexcept;
};

// Stream of a sender: messages that are likely to resemble each other.
struct MessageStream {
  std::uint64_t key = 0;   // hash of communicator, destination, tag, type and count
  std::uint32_t dest = 0;  // rank of the receiver, in the private communicator
  std::uint64_t kind = 0;  // hash of the same without the count
};

// States of the messages that this process has sent over one private communicator. Threads may share it.
class SentStates {
 public:
  static constexpr std::size_t most_streams = 1024;

  // `source`: rank of this process in the private communicator.
  explicit SentStates(std::uint32_t source) : source_(source), nonce_(random_mark()) {}

  // Compares a message with the earlier ones of its stream, by a piece of its values, and notes the piece.
  // Streams whose states get no credit are looked at now and then. The first message of a stream is expected
  // to gain as recent streams of its kind do: programs that move particles change the count of their messages
  // now and then. `min_saving`: as in EarlierPieces. Throws std::bad_alloc.
  HistoryForecast look(const MessageStream& stream, ConstSlice values, const Codec& codec, std::size_t depth,
                       double min_saving = 0);

  // Returns references for a message of this forecast, as far as there is credit. They are pinned until
  // leave() or give_up() has got them.
  HeldReferences references(const MessageStream& stream, std::size_t period) noexcept;

  // Makes a state for the message that look() has seen last in this stream, within `limit` bytes of all
  // states. Returns null if there is no room. Throws std::bad_alloc.
  std::shared_ptr<MessageState> make_state(const MessageStream& stream, ConstSlice values, std::size_t limit);

  // Records that the message is sent, and leaves the state. Returns what its header says. Throws
  // std::bad_alloc.
  StateNotice leave(const MessageStream& stream, std::shared_ptr<const MessageState> state,
                    HeldReferences& references);

  // Ends a message that is not sent in frames.
  void give_up(HeldReferences& references) noexcept;

  // Records credit of a receiver. Unknown numbers are ignored.
  void give_credit(std::uint64_t number) noexcept;

 private:
  // A state that the receiver may hold, or may come to hold.
  struct Sent {
    std::uint64_t stream;
    std::uint32_t dest;
    std::shared_ptr<const MessageState> state;  // null: no further message will refer to it
    std::array<std::uint64_t, max_references> refers_to;
    std::size_t uses = 0;  // messages without credit that refer to it
    bool credit = false;
  };
  struct Stream {
    std::uint64_t key = 0, kind = 0;
    EarlierPieces pieces{};
    std::deque<std::uint64_t> numbers{};  // of the states of the messages that were looked at; 0: no state
    std::size_t unanswered = 0;           // states left since the last credit
    std::size_t passed = 0;               // messages since the last look, in a stream without answers
  };
  Stream& of(const MessageStream& stream);
  std::size_t expected_period(std::uint64_t kind) const noexcept;
  Stream* find(std::uint64_t key) noexcept;
  void unpin(std::uint64_t number) noexcept;
  void release(std::uint64_t number) noexcept;
  void release_oldest(Stream& stream) noexcept;
  void drop_if_free(std::uint64_t number) noexcept;

  const std::uint32_t source_;
  const std::uint64_t nonce_;
  std::mutex mutex_;
  std::uint64_t drawn_ = 0;
  std::size_t bytes_ = 0;      // of all states
  std::list<Stream> streams_;  // the most recently used first
  std::unordered_map<std::uint64_t, Sent> sent_;
  std::unordered_map<std::uint32_t, std::deque<std::uint64_t>> dropped_;  // to be told, by receiver
};

// States of the messages that this process has received over one private communicator. Threads may share it.
class ReceivedStates {
 public:
  // Returns the references that a frame names, of the values at an offset of their message, whose values have
  // `bytes` in all. Nothing: some of them are not held.
  std::optional<HeldReferences> named(const StateNumbers& states, DType type, std::size_t bytes) noexcept;

  // Keeps the values of a message under the number that its header names, unless all states would exceed
  // `limit` bytes. Returns true if they are kept, so that the sender gets credit.
  bool keep(std::uint64_t number, ConstSlice values, std::size_t limit) noexcept;

  void forget(const StateNotice& notice) noexcept;  // forgets the states that the sender gives up

  std::size_t bytes() noexcept;  // of all states

 private:
  std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::unordered_map<std::uint64_t, std::shared_ptr<const MessageState>> held_;
};

}  // namespace taut

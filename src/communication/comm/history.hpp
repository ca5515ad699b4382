// Histories of collectives: the decoded values of earlier calls, which frames of later calls refer to.
//
// A series is the calls of one kind on one communicator. Each coded call of a series leaves a state: the
// values that this rank sent and received, decoded, at their places in the operands. All ranks give a state
// the same number. Their agreement tells whether all of them hold the same newest state; if not, all begin
// the series anew. Frames name the states that they refer to, so that a wrong state is an error and never a
// value.
#pragma once

#include <array>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "communication/team/algorithm.hpp"

namespace taut {

// Decoded values of one side of a call, at their offsets in the operand of that side.
class KeptValues {
 public:
  KeptValues() = default;
  explicit KeptValues(std::size_t bytes)
      : bytes_(bytes), memory_(std::make_unique_for_overwrite<std::byte[]>(bytes)) {}

  std::size_t bytes() const noexcept { return bytes_; }

  // Returns where values are kept, or null if some of these bytes are not kept.
  const std::byte* find(std::size_t offset, std::size_t bytes) const noexcept;
  // Returns the memory for values at an offset.
  std::byte* at(std::size_t offset) noexcept { return memory_.get() + offset; }
  // Marks values as kept. Throws std::bad_alloc.
  void keep(std::size_t offset, std::size_t bytes);

 private:
  struct Extent {
    std::size_t first, end;
  };
  std::size_t bytes_ = 0;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<Extent> kept_;  // sorted; extents do not touch
};

// State that a call leaves: the decoded values of both sides.
struct CallState {
  std::uint64_t number = 0;  // the same on all ranks
  KeptValues sent, received;

  std::size_t bytes() const noexcept { return sent.bytes() + received.bytes(); }
};

// States of the calls of one series, the newest first.
struct Series {
  std::uint64_t key = 0;
  std::deque<CallState> states;

  std::uint64_t newest() const noexcept { return states.empty() ? 0 : states.front().number; }
  std::size_t bytes() const noexcept;
  // Adds a state. The series keeps the newest `depth` states. Throws std::bad_alloc.
  void add(CallState state, std::size_t depth);
};

// Series of one communicator, within a limit of memory.
class Histories {
 public:
  static constexpr std::size_t most_series = 64;

  // Returns the series of a key, a new one if there is none, with room for one more state of `bytes`: as long
  // as all states and this one exceed `limit`, the oldest state of the series that was used least recently
  // goes. Returns null if the state alone exceeds the limit. Throws std::bad_alloc.
  Series* of(std::uint64_t key, std::size_t bytes, std::size_t limit);

 private:
  std::list<Series> series_;  // the most recently used first
};

// Range of memory that the offsets of an operand count from.
struct OperandExtent {
  const std::byte* first = nullptr;
  std::size_t bytes = 0;

  OperandExtent() = default;
  explicit OperandExtent(const Blocks<ConstSlice>& operand) noexcept;
  // Returns the offset of a slice; nothing if the slice is not in the operand.
  std::optional<std::size_t> offset(ConstSlice slice) const noexcept;
};

// References of one frame, the newest first.
struct ChosenReferences {
  std::array<Reference, max_references> of;
  unsigned n = 0;

  References span() const noexcept { return {of.data(), n}; }
};

// History of one call: the states that its frames may refer to, and the state that the call leaves.
class CallHistory {
 public:
  // `depth`: number of the newest states that all ranks hold.
  CallHistory(const Series& series, std::size_t depth, const Operands& data) noexcept;

  // Return references for values that this rank sends, encoded by `codec`, and those that a received frame
  // names. Nothing: some of the named states are not held.
  ChosenReferences of_sent(ConstSlice values, const Codec& codec) noexcept;
  std::optional<ChosenReferences> of_received(ConstBytes frame, ConstSlice values) const noexcept;

  // Keep a frame of values that this rank sends, and decoded values that it receives.
  void keep_sent(ConstSlice values, ConstBytes frame, References references, const Codec& codec) noexcept;
  void keep_received(ConstSlice values) noexcept;

  // Returns the state that the call leaves, with this number; nothing if memory was short.
  std::optional<CallState> state(std::uint64_t number) noexcept;

 private:
  ChosenReferences at_period(std::size_t period, std::size_t offset, ConstSlice values) const noexcept;
  std::size_t best_period(std::size_t offset, ConstSlice values, const Codec& codec) const noexcept;
  void keep(KeptValues& side, std::size_t offset, std::size_t bytes) noexcept;

  const Series& series_;
  std::size_t depth_;
  OperandExtent sent_, received_;
  CallState state_;
  bool complete_ = true;    // the state has all that the call coded
  std::size_t period_ = 0;  // distance of the references in the series; 0: not chosen yet
};

// Codec of a call in a series: predicts values from earlier states, decodes frames by the states that they
// name, and keeps what the call sends and receives.
class HistoryCodec final : public Codec {
 public:
  // `with_references`: encodes what may be predicted. `without_references`: encodes the rest, and decodes.
  HistoryCodec(const Codec& with_references, const Codec& without_references, CallHistory& history) noexcept
      : with_references_(with_references), without_references_(without_references), history_(history) {}

  const Contract& contract() const noexcept override { return without_references_.contract(); }
  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends) const noexcept override {
    return std::max(without_references_.max_bytes(type, count, addends),
                    with_references_.max_bytes(type, count, addends));
  }
  Sized encode(ConstSlice values, Bytes out) const noexcept override;
  Status decode(ConstBytes in, Slice values) const noexcept override;
  Status reduce(ConstBytes in, Slice values, Reduction op) const noexcept override {
    return without_references_.reduce(in, values, op);
  }

 private:
  const Codec& with_references_;
  const Codec& without_references_;
  CallHistory& history_;
};

}  // namespace taut

// Histories of collectives: the values of earlier calls, which frames of later calls refer to.
//
// A series is the calls of one kind on one communicator. Each rank compares a piece of its values with that
// of the calls before. As long as that promises shorter frames, each coded call of the series leaves a state:
// the values that this rank sent and received, at their places in the operands. All ranks give a state the
// same number. Their agreement tells whether all of them hold the same newest state; if not, all begin the
// series anew. Frames name the states that they refer to, so that a wrong state is an error and never a
// value.
#pragma once

#include <array>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "communication/policy/tuning/history_trials.hpp"
#include "communication/team/algorithm.hpp"

namespace taut {
namespace gpu {
class Device;
class DeviceValues;
}  // namespace gpu

// Decoded values of one side of a call, at their places (operand_places.hpp).
class KeptValues {
 public:
  KeptValues() = default;
  // `device`: the GPU that has the memory; null: the host. Throws Error, std::bad_alloc.
  explicit KeptValues(std::size_t bytes, const gpu::Device* device = nullptr);
  KeptValues(KeptValues&&) = default;
  KeptValues& operator=(KeptValues&&) = default;

  std::size_t bytes() const noexcept { return bytes_; }

  // Returns where values are kept, or null if some of these bytes are not kept.
  const std::byte* find(std::size_t offset, std::size_t bytes) const noexcept;
  // Returns the memory for values at an offset.
  std::byte* at(std::size_t offset) noexcept { return memory_.get() + offset; }
  // Marks values as kept. Throws std::bad_alloc.
  void keep(std::size_t offset, std::size_t bytes);
  void clear() noexcept { kept_.clear(); }  // nothing is kept

 private:
  struct Extent {
    std::size_t first, end;
  };
  std::size_t bytes_ = 0;
  std::shared_ptr<std::byte[]> memory_;
  std::vector<Extent> kept_;  // sorted; extents do not touch
};

// State that a call leaves: the values of both sides. Those of moved data are decoded. Of a sum, one side has
// the addends of this rank, and the other one the decoded sum.
struct CallState {
  std::uint64_t number = 0;  // the same on all ranks
  KeptValues sent, received;

  // Allocates memory for a state. Throws as KeptValues.
  static CallState with_bytes(std::size_t sent, std::size_t received, const gpu::Device* device = nullptr) {
    return {0, KeptValues(sent, device), KeptValues(received, device)};
  }
  std::size_t bytes() const noexcept { return sent.bytes() + received.bytes(); }
};

using HeldStates = std::vector<std::shared_ptr<CallState>>;  // the newest first

inline constexpr std::size_t least_history_gain = 10;  // a reference has to save one byte in this many

// Forecast for a call or a message: how far back a reference makes a piece of its values shortest.
struct HistoryForecast {
  std::size_t period = 0;                // 0: no reference makes it shorter
  float gain = 1;                        // bytes of the piece alone, over those with this reference
  unsigned references = max_references;  // most references of a frame
};

// Mixes into the key of a series all that gives the values of a call their places. Calls in flight, and so
// those of a persistent request, are also told apart by their buffers: two of them cannot be under way in the
// same memory.
void mix_places(std::uint64_t& key, const Operands& data, bool in_flight) noexcept;

// References of one frame, the newest first.
struct ChosenReferences {
  std::array<Reference, max_references> reference;
  unsigned n = 0;

  References span() const noexcept { return {reference.data(), n}; }
};

// Pieces of the values of earlier calls or messages, in which forecasts look for one that is alike.
class EarlierPieces {
 public:
  using Piece = std::vector<std::byte>;
  static constexpr std::size_t piece_bytes = 16384;

  // Returns a piece of the values: parts from all over them, one behind the other; short values as they
  // are. Throws std::bad_alloc.
  static Piece piece_of(ConstSlice values);
  static std::vector<Range> parts_of(ConstSlice values);

  // Compares a piece of the values with those of up to `depth` earlier calls or messages, and notes it for
  // later ones. `addends`: the values are addends of a sum. `referring`: a codec that uses all references
  // that it is given, as kernels do; null: `codec` chooses. `min_saving`: the least saving,
  // as a fraction of the piece's uncoded bytes. Throws std::bad_alloc.
  HistoryForecast forecast(ConstSlice values, bool addends, const Codec& codec, std::size_t depth,
                           const Codec* referring = nullptr, double min_saving = 0);

  // Counts a call. Returns true if the call is to have no forecast: sequences that gain nothing are compared
  // in few calls only.
  bool rests() noexcept;

  // The two parts of forecast(). Throw std::bad_alloc.
  HistoryForecast compare(ConstSlice piece, bool addends, const Codec& codec,
                          const Codec* referring = nullptr, double min_saving = 0);
  void note(Piece piece, std::size_t depth);

  // Returns the references of a piece at distances of `period` and twice `period`, as far as they are noted;
  // an addend has one.
  ChosenReferences at_period(std::size_t period, ConstSlice piece, bool addends) const noexcept;
  std::size_t size() const noexcept { return pieces_.size(); }
  std::size_t period() const noexcept { return period_; }  // found by the last look; 0: no piece was alike

 private:
  std::deque<Piece> pieces_;              // the newest first
  std::size_t useless_ = 0;               // looks without gain in a row
  std::size_t rest_ = 0, rested_ = 0;     // calls until the next look; length of the last rest
  std::size_t period_ = 0;                // at the last look; 0: no piece was alike
  unsigned references_ = max_references;  // at the last look
  bool may_gain_ = false;                 // the last piece could have become shorter
  std::size_t looks_ = 0;                 // since all pieces were compared
};

// States of the calls of one series, and a piece of the values of each call.
class Series {
 public:
  // Throws std::bad_alloc.
  explicit Series(std::uint64_t key) : key_(key) {}

  std::uint64_t key() const noexcept { return key_; }
  const HeldStates& states() const noexcept { return states_; }
  std::uint64_t newest() const noexcept { return states_.empty() ? 0 : states_.front()->number; }
  // Returns the bytes of the states, of the one that the call in flight will leave, and of spare memory.
  std::size_t bytes() const noexcept;

  // Returns the pieces of the values that this rank sends.
  EarlierPieces& pieces() noexcept { return pieces_; }

  // Returns the trials that tell whether a history pays for the series.
  HistoryTrials& trials() noexcept { return trials_; }

  // Adds a state. The series keeps the newest `depth` states. Throws std::bad_alloc.
  void add(CallState state, std::size_t depth);
  void clear() noexcept { states_.clear(); }
  void drop_oldest() noexcept { states_.pop_back(); }
  std::size_t spare_bytes() const noexcept { return spare_.bytes(); }
  void drop_spare() noexcept { spare_ = {}; }

  // Returns memory for the next state: that of the last dropped state if it has the same size, because
  // allocation takes as long as coding. All states of a series are on one GPU, or on the host. Throws as
  // KeptValues.
  CallState room(std::size_t sent, std::size_t received, const gpu::Device* device = nullptr);

  // Mark that a call of the series is under way, which will leave a state of `bytes`, and that it is over.
  bool under_way() const noexcept { return under_way_; }
  void begin(std::size_t bytes) noexcept {
    under_way_ = true;
    reserved_ = bytes;
  }
  void end() noexcept {
    under_way_ = false;
    reserved_ = 0;
  }

 private:
  std::uint64_t key_;
  HeldStates states_;
  CallState spare_;
  EarlierPieces pieces_;
  HistoryTrials trials_;
  bool under_way_ = false;
  std::size_t reserved_ = 0;
};

// Series of one communicator, within a limit of memory.
class Histories {
 public:
  static constexpr std::size_t most_series = 64;

  // Returns the series of a key, a new one if there is none, with room for one more state of `bytes`: as long
  // as all states and this one exceed `limit`, the oldest state of the series that was used least recently
  // goes. States of series with a call under way stay. Returns null if there is no room. Throws
  // std::bad_alloc.
  std::shared_ptr<Series> of(std::uint64_t key, std::size_t bytes, std::size_t limit);

  // Frees the memory of all series without a call under way. Returns true if they had some.
  bool drop_idle() noexcept;

 private:
  std::list<std::shared_ptr<Series>> series_;  // the most recently used first
};

// History of one call that moves values: the states that its frames may refer to, and the state that it
// leaves.
class CallHistory {
 public:
  // `states`: those that all ranks hold. `forecast`: of the values that this rank sends. `device`: place of
  // values and states on a GPU; null: the host has them.
  CallHistory(const HeldStates& states, const HistoryForecast& forecast, const OperandPlaces& places,
              Series& series, gpu::DeviceValues* device = nullptr) noexcept;
  CallHistory(const CallHistory&) = delete;
  // Waits for work on the state if the call ends early.
  ~CallHistory();

  // Return references for values that this rank sends, and those that a received frame names. Nothing: some
  // of the named states are not held.
  ChosenReferences of_sent(ConstSlice values) const noexcept;
  std::optional<ChosenReferences> of_received(ConstBytes frame, ConstSlice values) const noexcept;

  // Keep a frame of values that this rank sends, and decoded values that it receives.
  void keep_sent(ConstSlice values, ConstBytes frame, References references, const Codec& codec) noexcept;
  void keep_received(ConstSlice values) noexcept;

  // Returns the memory into which a frame of values that this rank sends has to be decoded; without data if
  // they are not kept. note_sent() marks them as kept, or notes a failure.
  Slice room_of_sent(ConstSlice values) noexcept;
  void note_sent(ConstSlice kept, Status status) noexcept;

  // Returns the state that the call leaves, with this number; nothing if memory was short. All work on it is
  // done.
  std::optional<CallState> state(std::uint64_t number) noexcept;

 private:
  void keep(KeptValues& side, std::size_t offset, std::size_t bytes) noexcept;
  Status copy(std::byte* to, ConstSlice values) noexcept;

  const HeldStates& states_;
  HistoryForecast forecast_;
  const OperandPlaces& places_;
  gpu::DeviceValues* device_;
  CallState state_;
  bool complete_ = true;  // the state has all that the call coded
};

// Codec of a call that moves values in a series: predicts values from earlier states, decodes frames by the
// states that they name, and keeps what the call sends and receives.
class HistoryCodec : public Codec {
 public:
  // `with_references`: encodes what may be predicted. `without_references`: encodes the rest, and decodes.
  HistoryCodec(const Codec& with_references, const Codec& without_references, CallHistory& history) noexcept
      : with_references_(with_references), without_references_(without_references), history_(history) {}

  const Contract& contract() const noexcept override { return without_references_.contract(); }
  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends) const noexcept override {
    return std::max(without_references_.max_bytes(type, count, addends),
                    with_references_.max_bytes(type, count, addends));
  }
  SizeOrStatus encode(ConstSlice values, References, Bytes out) const noexcept override;
  Status decode(ConstBytes in, References, Slice values) const noexcept override;
  Status reduce(ConstBytes in, References, Slice values, Reduction op) const noexcept override {
    return without_references_.reduce(in, values, op);
  }

 protected:
  CallHistory& history() const noexcept { return history_; }

 private:
  const Codec& with_references_;
  const Codec& without_references_;
  CallHistory& history_;
};

}  // namespace taut

// Histories of sums by frames: each rank predicts its addends from those of an earlier call, and all ranks
// predict the sum from that of the earlier call. Prediction acts on integers and is linear, so that the sum
// of the differences is the difference of the sums (docs/error-model.md).
#pragma once

#include "communication/comm/history.hpp"
#include "communication/team/call.hpp"

namespace taut {

// Returns true if calls of this kind may have a history if they add frames. Halves have none: a sum that is
// rounded to 8 or 11 bits does not tell its integer.
bool may_sum_with_history(const Call& call) noexcept;

// History of one sum: the state that its frames refer to, and the state that it leaves. The state has the
// addends of this rank, by nodes those of its node, and the sum if the rank gets it.
class SumHistory {
 public:
  // `earlier`: the state; null: frames refer to none. `series`: gives memory for the next one.
  SumHistory(std::shared_ptr<const CallState> earlier, const OperandPlaces& places, Series& series) noexcept;

  bool refers() const noexcept { return earlier_ != nullptr; }

  // Return the references of addends and of a sum. Nothing if the values are no part of the operand.
  ChosenReferences of_addends(ConstSlice values) const noexcept;
  ChosenReferences of_sum(ConstSlice values) const noexcept;

  // Keep addends before the sum overwrites them, and the decoded sum. The state can be used only if the
  // codec represents all values by integers.
  void keep_addends(ConstSlice values, const Codec& codec) noexcept {
    keep(state_.sent, places_.of_sent(values), values, codec);
  }
  void keep_sum(ConstSlice values, const Codec& codec) noexcept {
    keep(state_.received, places_.of_received(values), values, codec);
  }

  // Returns the state that the call leaves, with this number; nothing if it cannot be used: it lacks values.
  std::optional<CallState> state(std::uint64_t number) noexcept;

 private:
  ChosenReferences of(const KeptValues& kept, std::optional<std::size_t> place,
                      ConstSlice values) const noexcept;
  void keep(KeptValues& kept, std::optional<std::size_t> place, ConstSlice values,
            const Codec& codec) noexcept;

  std::shared_ptr<const CallState> earlier_;
  const OperandPlaces& places_;
  CallState state_;
  bool usable_ = true;
};

// Codec of a sum in a series.
class SumHistoryCodec final : public Codec, private FrameArithmetic {
 public:
  SumHistoryCodec(const Codec& codec, SumHistory& history) noexcept : codec_(codec), history_(history) {}

  const Contract& contract() const noexcept override { return codec_.contract(); }
  const FrameArithmetic* arithmetic() const noexcept override { return this; }
  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends) const noexcept override {
    return codec_.max_bytes(type, count, addends + (history_.refers() ? 1 : 0));
  }
  SizeOrStatus encode(ConstSlice values, References, Bytes out) const noexcept override {
    history_.keep_addends(values, codec_);
    return codec_.encode(values, history_.of_addends(values).span(), out);
  }
  Status decode(ConstBytes in, References, Slice values) const noexcept override {
    const Status status = codec_.decode(in, history_.of_sum(values).span(), values);
    if (status == Status::ok) history_.keep_sum(values, codec_);
    return status;
  }
  Status reduce(ConstBytes in, References, Slice values, Reduction op) const noexcept override {
    return codec_.reduce(in, history_.of_sum(values).span(), values, op);
  }

 private:
  SizeOrStatus sum(std::span<const ConstBytes> frames, Bytes out) const noexcept override {
    return codec_.arithmetic()->sum(frames, out);
  }
  SizeOrStatus accumulate(ConstBytes frame, ConstSlice values, References,
                          Bytes out) const noexcept override {
    history_.keep_addends(values, codec_);
    return codec_.arithmetic()->accumulate(frame, values, history_.of_addends(values).span(), out);
  }

  const Codec& codec_;
  SumHistory& history_;
};

}  // namespace taut

#include "communication/comm/sum_history.hpp"

#include <cstring>

#include "compressor/base/guarded.hpp"

namespace taut {
namespace {

// Returns a copy of a whole operand.
KeptValues copy_of(const OperandExtent& operand) {
  KeptValues kept(operand.bytes);
  if (operand.bytes == 0) return kept;
  std::memcpy(kept.at(0), operand.first, operand.bytes);
  kept.keep(0, operand.bytes);
  return kept;
}

}  // namespace

bool may_sum_with_history(const Call& call) noexcept {
  const Collective c = call.collective;
  const bool sums = c == Collective::allreduce || c == Collective::reduce || c == Collective::reduce_scatter;
  return sums && size_of(component_of(call.type)) >= sizeof(float);
}

SumHistory::SumHistory(std::shared_ptr<const CallState> earlier, const Operands& data, bool receives) noexcept
    : earlier_(std::move(earlier)), addends_(data.in), type_(data.in.type) {
  if (receives) sum_ = OperandExtent(Blocks<ConstSlice>(data.out, data.out.layout));
  usable_ = guarded([&] { state_.sent = copy_of(addends_); }) == Status::ok;
}

ChosenReferences SumHistory::of_addends(ConstSlice values) const noexcept {
  if (earlier_ == nullptr) return {};
  ChosenReferences chosen = of(earlier_->sent, addends_, values);
  chosen.of[0].of_addend = true;
  return chosen;
}

ChosenReferences SumHistory::of_sum(ConstSlice values) const noexcept {
  return earlier_ != nullptr ? of(earlier_->received, sum_, values) : ChosenReferences{};
}

ChosenReferences SumHistory::of(const KeptValues& kept, const OperandExtent& operand,
                                ConstSlice values) const noexcept {
  const std::optional<std::size_t> offset = operand.offset(values);
  const std::byte* const data = offset && values.count > 0 ? kept.find(*offset, values.bytes()) : nullptr;
  ChosenReferences chosen;
  if (data != nullptr) chosen.of[chosen.n++] = {earlier_->number, {{data, values.count, values.type}}};
  return chosen;
}

void SumHistory::keep_sum(const Codec& codec) noexcept {
  const FrameArithmetic* const arithmetic = codec.arithmetic();
  const auto all_integers = [&](const KeptValues& kept) {
    const std::size_t count = kept.bytes() / size_of(type_);
    return count == 0 || arithmetic->has_integers({{kept.find(0, kept.bytes()), count, type_}});
  };
  const Status status = guarded([&] {
    if (arithmetic == nullptr || !usable_ || !all_integers(state_.sent)) usable_ = false;
    if (usable_) state_.received = copy_of(sum_);
    usable_ = usable_ && all_integers(state_.received);
  });
  usable_ = usable_ && status == Status::ok;
}

std::optional<CallState> SumHistory::state(std::uint64_t number) noexcept {
  if (!usable_) return {};
  state_.number = number;
  return std::move(state_);
}

}  // namespace taut

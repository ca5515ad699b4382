#include "communication/comm/sum_history.hpp"

#include <cstring>

#include "compressor/base/guarded.hpp"

namespace taut {
bool may_sum_with_history(const Call& call) noexcept {
  return reduces(call.collective) && size_of(component_of(call.type)) >= sizeof(float);
}

SumHistory::SumHistory(std::shared_ptr<const CallState> earlier, const OperandPlaces& places) noexcept
    : earlier_(std::move(earlier)), places_(places) {
  usable_ = guarded([&] {
              state_.sent = KeptValues(places.sent_bytes());
              state_.received = KeptValues(places.received_bytes());
            }) == Status::ok;
}

ChosenReferences SumHistory::of_addends(ConstSlice values) const noexcept {
  if (earlier_ == nullptr) return {};
  ChosenReferences chosen = of(earlier_->sent, places_.of_sent(values), values);
  chosen.of[0].of_addend = true;
  return chosen;
}

ChosenReferences SumHistory::of_sum(ConstSlice values) const noexcept {
  return earlier_ != nullptr ? of(earlier_->received, places_.of_received(values), values)
                             : ChosenReferences{};
}

ChosenReferences SumHistory::of(const KeptValues& kept, std::optional<std::size_t> place,
                                ConstSlice values) const noexcept {
  const std::byte* const data = place && values.count > 0 ? kept.find(*place, values.bytes()) : nullptr;
  ChosenReferences chosen;
  if (data != nullptr) chosen.of[chosen.n++] = {earlier_->number, {{data, values.count, values.type}}};
  return chosen;
}

void SumHistory::keep(KeptValues& kept, std::optional<std::size_t> place, ConstSlice values,
                      const Codec& codec) noexcept {
  if (!usable_ || !place || values.count == 0) return;
  const FrameArithmetic* const arithmetic = codec.arithmetic();
  const Status status = guarded([&] {
    usable_ = arithmetic != nullptr && arithmetic->has_integers(values);
    if (!usable_) return;
    std::memcpy(kept.at(*place), values.data, values.bytes());
    kept.keep(*place, values.bytes());
  });
  usable_ = usable_ && status == Status::ok;
}

std::optional<CallState> SumHistory::state(std::uint64_t number) noexcept {
  const auto whole = [](const KeptValues& kept) {
    return kept.bytes() == 0 || kept.find(0, kept.bytes()) != nullptr;
  };
  if (!usable_ || !whole(state_.sent) || !whole(state_.received)) return {};
  state_.number = number;
  return std::move(state_);
}

}  // namespace taut

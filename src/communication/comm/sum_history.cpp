#include "communication/comm/sum_history.hpp"

#include <algorithm>
#include <cstring>

#include "compressor/base/guarded.hpp"

namespace taut {
bool may_sum_with_history(const Call& call) noexcept {
  return reduces(call.collective) && size_of(component_of(call.type)) >= sizeof(float);
}

SumHistory::SumHistory(std::shared_ptr<const CallState> earlier, const OperandPlaces& places,
                       Series& series) noexcept
    : earlier_(std::move(earlier)), places_(places) {
  usable_ =
      guarded([&] { state_ = series.room(places.sent_bytes(), places.received_bytes()); }) == Status::ok;
}

ChosenReferences SumHistory::of_addends(ConstSlice values) const noexcept {
  if (earlier_ == nullptr) return {};
  ChosenReferences chosen = of(earlier_->sent, places_.of_sent(values), values);
  chosen.reference[0].by_addend = true;
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
  if (data != nullptr) chosen.reference[chosen.n++] = {earlier_->number, {{data, values.count, values.type}}};
  return chosen;
}

// Tests and copies the values piece by piece, so that the copy reads from cache.
void SumHistory::keep(KeptValues& kept, std::optional<std::size_t> place, ConstSlice values,
                      const Codec& codec) noexcept {
  constexpr std::size_t piece = 4096;
  if (!usable_ || !place || values.count == 0) return;
  const FrameArithmetic* const arithmetic = codec.arithmetic();
  std::byte* to = kept.at(*place);
  for (std::size_t first = 0; first < values.count && usable_; first += piece) {
    const ConstSlice some{values.part(first, std::min(piece, values.count - first))};
    usable_ = arithmetic != nullptr && arithmetic->has_integers(some);
    std::memcpy(to, some.data, some.bytes());
    to += some.bytes();
  }
  usable_ = usable_ && guarded([&] { kept.keep(*place, values.bytes()); }) == Status::ok;
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

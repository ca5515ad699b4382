#include "communication/team/operand_places.hpp"

#include <algorithm>
#include <functional>

namespace taut {
namespace {

// Returns the place of values if they fit into `all` bytes there.
std::optional<std::size_t> within(std::optional<std::size_t> place, ConstSlice values,
                                  std::size_t all) noexcept {
  return place && *place <= all && values.bytes() <= all - *place ? place : std::nullopt;
}

}  // namespace

OperandExtent::OperandExtent(const Blocks<ConstSlice>& operand, std::size_t at) noexcept
    : first(static_cast<const std::byte*>(operand.data)), place(at) {
  if (first == nullptr) return;
  std::size_t end = operand.layout == nullptr ? operand.count : 0;
  if (const BlockLayout* const layout = operand.layout; layout != nullptr)
    for (std::size_t i = 0; i < layout->counts.size(); ++i)
      if (layout->counts[i] > 0 && layout->offsets[i] >= 0)
        end = std::max(end, static_cast<std::size_t>(layout->offsets[i]) + layout->counts[i]);
  bytes = end * size_of(operand.type);
}

std::optional<std::size_t> OperandExtent::place_of(ConstSlice slice) const noexcept {
  const auto* const data = static_cast<const std::byte*>(slice.data);
  if (first == nullptr || std::less<>()(data, first)) return {};
  const auto offset = static_cast<std::size_t>(data - first);
  if (offset > bytes || slice.bytes() > bytes - offset) return {};
  return place + offset;
}

std::optional<std::size_t> OperandPlaces::of_sent(ConstSlice values) const noexcept {
  for (const OperandMemory& one : memory_)
    if (const auto place = one.sent.place_of(values)) return within(place, values, sent_bytes_);
  return {};
}

std::optional<std::size_t> OperandPlaces::of_received(ConstSlice values) const noexcept {
  for (const OperandMemory& one : memory_)
    for (const OperandExtent* extent : {&one.received, &one.own})
      if (const auto place = extent->place_of(values)) return within(place, values, received_bytes_);
  return {};
}

}  // namespace taut

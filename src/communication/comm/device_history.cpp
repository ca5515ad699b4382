#include "communication/comm/device_history.hpp"

#include <array>

namespace taut {
namespace {

constexpr std::size_t max_items = CodecOperations::max_batch;

}  // namespace

// Encodes the items without references, then those with references. Decodes the frames to the state of the
// call, as their receivers do.
Task<SizeOrStatus> DeviceHistoryCodec::encode_items(std::span<EncodeItem> items) const {
  std::array<ChosenReferences, max_items> chosen;
  for (std::size_t i = 0; i < items.size(); ++i) chosen[i] = history().of_sent(items[i].values);
  for (const bool refers : {false, true}) {
    std::array<EncodeItem, max_items> some;
    std::array<std::size_t, max_items> number;
    std::size_t n = 0;
    for (std::size_t i = 0; i < items.size(); ++i)
      if ((chosen[i].n > 0) == refers) {
        some[n] = {items[i].values, items[i].out, {}, chosen[i].span()};
        number[n++] = i;
      }
    if (n == 0) continue;
    Operation encoding = (refers ? with_references_ : without_references_).encode({some.data(), n});
    const SizeOrStatus outcome = co_await encoding;
    if (outcome.status != Status::ok) co_return outcome;
    for (std::size_t i = 0; i < n; ++i) items[number[i]].made = some[i].made;
  }
  std::array<DecodeItem, max_items> kept;
  std::size_t n = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& [values, out, made, references] = items[i];
    const Slice room = made.status == Status::ok ? history().room_of_sent(values) : Slice{};
    if (room.data != nullptr) kept[n++] = {out.first(made.bytes), room, Status::ok, chosen[i].span()};
  }
  if (n == 0) co_return SizeOrStatus{};
  Operation decoding = without_references_.decode({kept.data(), n});
  const Status outcome = (co_await decoding).status;
  for (const DecodeItem& item : std::span(kept).first(n))
    history().note_sent(item.values, outcome == Status::ok ? item.status : outcome);
  co_return SizeOrStatus{};
}

Task<SizeOrStatus> DeviceHistoryCodec::decode_items(std::span<DecodeItem> items) const {
  std::array<ChosenReferences, max_items> chosen;
  std::array<DecodeItem, max_items> some;
  std::array<std::size_t, max_items> number;
  std::size_t n = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::optional<ChosenReferences> found = history().of_received(items[i].in, items[i].values);
    items[i].status = Status::corrupt_frame;
    if (!found) continue;
    chosen[n] = *found;
    some[n] = {items[i].in, items[i].values, Status::ok, chosen[n].span()};
    number[n++] = i;
  }
  if (n == 0) co_return SizeOrStatus{};
  Operation decoding = without_references_.decode({some.data(), n});
  const SizeOrStatus outcome = co_await decoding;
  if (outcome.status != Status::ok) co_return outcome;
  for (std::size_t i = 0; i < n; ++i) {
    items[number[i]].status = some[i].status;
    if (some[i].status == Status::ok) history().keep_received(some[i].values);
  }
  co_return SizeOrStatus{};
}

Operation DeviceHistoryCodec::start_encode(std::span<EncodeItem> items) const noexcept {
  return Operation::by_task([&] { return encode_items(items); });
}

Operation DeviceHistoryCodec::start_decode(std::span<DecodeItem> items) const noexcept {
  return Operation::by_task([&] { return decode_items(items); });
}

}  // namespace taut

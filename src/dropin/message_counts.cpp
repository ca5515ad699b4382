#include "dropin/message_counts.hpp"

#include <bit>

#include "api/all_attached.hpp"
#include "core/device_memory.hpp"

namespace taut::dropin {
namespace {

bool counts() noexcept {
  static const bool asked = options().observe() && api::messages_seen() != nullptr;
  return asked;
}

CallKind kind_of(Collective direction, std::uint8_t type, std::size_t bytes) noexcept {
  CallKind kind;
  kind.collective = static_cast<std::uint8_t>(direction);
  kind.type = type;
  kind.size_class = static_cast<std::uint8_t>(std::bit_width(bytes));
  return kind;
}

// Runs `note(row)`, in which the message is counted already.
template <class Note>
void count(Collective direction, std::uint8_t type, std::size_t bytes, Note note) noexcept {
  if (!counts()) return;
  api::MessagesSeen& seen = *api::messages_seen();
  const std::lock_guard lock(seen.mutex);
  note(seen.observed.calls.count(kind_of(direction, type, bytes), bytes));
}

// Once its row is there, before the message is counted in it.
void sample(CallRow& row, ConstSlice values) noexcept {
  static Sampler sampler(options().kernels);
  if (!options().report.empty() && !on_device(values.data)) sampler.look(row, values);
}

}  // namespace

bool begin_counting() noexcept {
  return counts() && api::free_at_finalize();  // which writes as well
}

void count_sent(ConstSlice values, const EncodedMessage& made, std::size_t sent) noexcept {
  if (!counts()) return;
  api::MessagesSeen& seen = *api::messages_seen();
  const std::lock_guard lock(seen.mutex);
  CallRow& row = seen.observed.calls.row(
      kind_of(Collective::send, static_cast<std::uint8_t>(values.type), values.bytes()));
  sample(row, values);
  row.add_call(values.bytes());
  note_sent(made, values.bytes(), sent, row);
  row.sum.times[Verb::call] += made.end - made.begin;
}

void count_decoded(std::uint8_t type, std::size_t bytes, std::uint64_t nanoseconds) noexcept {
  count(Collective::recv, type, bytes, [&](CallRow& row) {
    ++row.sum.compressed_calls;
    row.sum.times[Verb::decode] += nanoseconds;
    row.sum.times[Verb::call] += nanoseconds;
  });
}

void count_received_plain(std::uint8_t type, std::size_t bytes) noexcept {
  count(Collective::recv, type, bytes, [](CallRow& row) { row.note_plain(Plain::sender); });
}

}  // namespace taut::dropin

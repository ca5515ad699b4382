#include "dropin/message_counts.hpp"

#include "api/all_attached.hpp"
#include "core/device_memory.hpp"

namespace taut::dropin {
namespace {

bool counts() noexcept {
  static const bool asked = options().observe() && api::messages_seen() != nullptr;
  return asked;
}

CallKey key_of(Collective direction, DType type, std::size_t bytes) noexcept {
  return Call{.collective = direction, .type = type, .bytes = bytes}.key();
}

// Runs `note(row)`, in which the message is counted already.
template <class Note>
void count(Collective direction, std::uint8_t type, std::size_t bytes, Note note) noexcept {
  if (!counts()) return;
  api::MessagesSeen& seen = *api::messages_seen();
  const std::lock_guard lock(seen.mutex);
  note(seen.observed.calls.count(key_of(direction, DType(type), bytes), bytes));
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
  CallRow& row = seen.observed.calls.row(key_of(Collective::send, values.type, values.bytes()));
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

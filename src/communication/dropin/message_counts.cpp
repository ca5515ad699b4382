#include "communication/dropin/message_counts.hpp"

#include "communication/api/state/comm_registry.hpp"
#include "communication/comm/call_site.hpp"
#include "communication/dropin/program_endpoint.hpp"

namespace taut::dropin {
namespace {

CallKey key_of(Collective direction, DType type, std::size_t bytes, const void* site) noexcept {
  return Call{.collective = direction, .type = type, .bytes = bytes, .site = site}.key();
}

// Samples the values of a message. Called once the row of the message exists, before the message is counted
// in the row.
void sample(CallRow& row, const p2p::MpiMessage& message, const api::DatatypeLayout& kind) noexcept {
  static Sampler sampler(options().kernels);
  if (options().report.empty() || !kind.dense || api::on_device(message.buf, message.type)) return;
  const std::size_t n = static_cast<std::size_t>(message.count) * kind.values_per_element;
  sampler.look(row, {{message.buf, n, kind.type()}});
}

}  // namespace

bool counts_messages() noexcept {
  static const bool asked = options().observe() && api::message_report() != nullptr;
  return asked;
}

const void* reported_site(const void* return_address) noexcept {
  return options().report.empty() ? nullptr : program_site(return_address);
}

bool begin_counting() noexcept {
  return counts_messages() && api::free_at_finalize();  // which also writes the report
}

void count_sent(const p2p::MpiMessage& message, const api::DatatypeLayout& kind,
                const EncodedMessage& made) noexcept {
  if (!counts_messages()) return;
  const std::size_t bytes = p2p::bytes_of_values(message, kind);
  api::MessageReport& seen = *api::message_report();
  const std::lock_guard lock(seen.mutex);
  CallRow& row = seen.observed.calls.row(key_of(Collective::send, kind.type(), bytes, message.site));
  sample(row, message, kind);
  row.add_call(bytes);
  note_sent(made, bytes, row);
  row.sum.times[Phase::call] += made.end - made.begin;
}

void count_received(const p2p::MpiMessage& at, const p2p::Received& received) noexcept {
  if (!counts_messages() || received.failed || received.bytes < least_value_bytes) return;
  const auto known = api::known_datatype(at.type);
  const DType type = received.coded() ? *received.type : known ? known->type : DType{};
  const std::uint64_t nanoseconds = received.end - received.begin;
  api::MessageReport& seen = *api::message_report();
  const std::lock_guard lock(seen.mutex);
  CallRow& row =
      seen.observed.calls.count(key_of(Collective::recv, type, received.bytes, at.site), received.bytes);
  if (!received.coded()) return row.note_plain(Fallback::sender);
  ++row.sum.compressed_calls;
  row.sum.times[Phase::decode] += nanoseconds;
  row.sum.times[Phase::call] += nanoseconds;
}

}  // namespace taut::dropin

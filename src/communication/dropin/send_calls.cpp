#include "communication/dropin/send_calls.hpp"

#include "communication/dropin/generalized_requests.hpp"
#include "communication/dropin/interception.hpp"
#include "communication/dropin/message_counts.hpp"
#include "communication/dropin/program_endpoint.hpp"
#include "communication/p2p/request_table.hpp"

namespace taut::dropin {
namespace {

// Returns the datatype layout of a message that may be sent coded, if a rule applies to it, or that is
// counted for reports. Returns nothing for a message that is left to MPI.
std::optional<api::DatatypeLayout> kind_of(const p2p::MpiMessage& message) {
  const auto& m = message;
  if (!inspects_messages() || m.count <= 0 || m.buf == nullptr || m.buf == MPI_BOTTOM) return {};
  if (m.peer < 0 || m.tag < 0) return {};
  if (api::bytes_of(m.count, m.type) < static_cast<MPI_Count>(least_value_bytes) || !intercepts(m.comm))
    return {};
  const BypassScope bypass;
  const auto kind = api::datatype_layout_of(m.type);
  return kind && (kind->value_type.computes || counts_messages()) ? kind : std::nullopt;
}

}  // namespace

ProgramSend::ProgramSend(const p2p::MpiMessage& message) : message_(message), kind_(kind_of(message)) {
  const BypassScope bypass;
  if (kind_) message_.site = reported_site(message.site);
  if (kind_) outgoing_ = encode(message, *kind_);
}

ProgramSend::~ProgramSend() { count(); }

void ProgramSend::count() noexcept {
  const BypassScope bypass;
  if (kind_ && !std::exchange(counted_, true)) count_sent(message_, *kind_, outgoing_.made());
}

p2p::MpiMessage ProgramSend::arguments() const { return outgoing_.in_place_of(message_); }

int ProgramSend::send(p2p::SendFunction function) {
  if (in_segments()) return outgoing_.send(message_, progress_calls);
  return p2p::send(function, arguments());
}

int ProgramSend::start(p2p::StartFunction function, MPI_Request* request) {
  return outgoing_.start(function, message_, request);
}

p2p::OutgoingMessage ProgramSend::take() noexcept {
  count();
  return std::move(outgoing_);
}

bool send_coded(p2p::SendFunction send, const p2p::MpiMessage& message, int& code) {
  ProgramSend sending(message);
  if (sending.coded()) code = sending.send(send);
  return sending.coded();
}

bool send_coded(p2p::StartFunction start, const p2p::MpiMessage& message, MPI_Request* request, int& code) {
  ProgramSend sending(message);
  if (!sending.coded()) return false;
  code = sending.start(start, request);
  if (code == MPI_SUCCESS) p2p::track_send(*request, sending.take());
  return true;
}

void send_at_each_start(MPI_Request request, p2p::StartFunction start, const p2p::MpiMessage& message) {
  if (!kind_of(message)) return;
  p2p::MpiMessage reported = message;
  reported.site = reported_site(message.site);
  p2p::track_persistent(request, reported, start);
}

bool start_coded(MPI_Request request, int& code) {
  const auto send = p2p::find_persistent(request);
  if (!send || send->first == nullptr) return false;
  ProgramSend sending(send->second);
  if (!sending.coded()) return false;
  MPI_Request started = MPI_REQUEST_NULL;
  code = sending.start(send->first, &started);
  if (code == MPI_SUCCESS) p2p::substitute(request, started, sending.take());
  return true;
}

}  // namespace taut::dropin

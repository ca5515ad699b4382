#include "communication/dropin/send_calls.hpp"

#include "communication/dropin/generalized_requests.hpp"
#include "communication/dropin/interception.hpp"
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
  return kind && (kind->value_type.computes || counts_calls()) ? kind : std::nullopt;
}

// Starts to send a coded message, and counts it. Returns an MPI error code.
int start(p2p::Send& send, p2p::StartFunction function, MPI_Request* request) {
  const int code = send.start(function, request);
  count_sent(send);
  return code;
}

}  // namespace

p2p::Send send_of_program(const p2p::MpiMessage& message) {
  const auto layout = kind_of(message);
  if (!layout) return p2p::Send(message);
  const BypassScope bypass;
  p2p::MpiMessage reported = message;
  reported.site = reported_site(message.site);
  p2p::Send send(reported, layout);
  encode(send);
  return send;
}

bool send_coded(p2p::SendFunction function, const p2p::MpiMessage& message, int& code) {
  p2p::Send send = send_of_program(message);
  if (send.coded()) code = send.send(function, progress_calls);
  count_sent(send);
  return send.coded();
}

bool send_coded(p2p::StartFunction function, const p2p::MpiMessage& message, MPI_Request* request,
                int& code) {
  p2p::Send send = send_of_program(message);
  if (!send.coded()) return count_sent(send), false;
  code = start(send, function, request);
  if (code == MPI_SUCCESS) p2p::track_send(*request, std::move(send));
  return true;
}

void send_at_each_start(MPI_Request request, p2p::StartFunction start, const p2p::MpiMessage& message) {
  if (!kind_of(message)) return;
  p2p::MpiMessage reported = message;
  reported.site = reported_site(message.site);
  p2p::track_persistent(request, reported, start);
}

bool start_coded(MPI_Request request, int& code) {
  const auto persistent = p2p::find_persistent(request);
  if (!persistent || persistent->first == nullptr) return false;
  p2p::Send send = send_of_program(persistent->second);
  if (!send.coded()) return count_sent(send), false;
  MPI_Request started = MPI_REQUEST_NULL;
  code = start(send, persistent->first, &started);
  if (code == MPI_SUCCESS) p2p::substitute(request, started, std::move(send));
  return true;
}

}  // namespace taut::dropin

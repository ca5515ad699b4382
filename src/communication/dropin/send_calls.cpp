#include "communication/dropin/send_calls.hpp"

#include "communication/dropin/message_counts.hpp"
#include "communication/dropin/messages.hpp"
#include "communication/p2p/request_table.hpp"

namespace taut::dropin {

bool send_coded(p2p::SendFunction send, const p2p::SendArguments& message, int& code) {
  ProgramSend sending(message);
  if (sending.coded()) code = sending.send(send);
  return sending.coded();
}

bool send_coded(p2p::StartFunction start, const p2p::SendArguments& message, MPI_Request* request,
                int& code) {
  ProgramSend sending(message);
  if (!sending.coded()) return false;
  code = sending.start(start, request);
  if (code == MPI_SUCCESS) p2p::track_send(*request, sending.take());
  return true;
}

void send_at_each_start(MPI_Request request, p2p::StartFunction start, const p2p::SendArguments& message) {
  if (!kind_of(message)) return;
  p2p::PersistentSend send{start, message};
  send.message.site = reported_site(message.site);
  p2p::track_persistent(request, send);
}

bool start_coded(MPI_Request request, int& code) {
  const auto send = p2p::find_persistent_send(request);
  if (!send) return false;
  ProgramSend sending(send->message);
  if (!sending.coded()) return false;
  MPI_Request started = MPI_REQUEST_NULL;
  code = sending.start(send->start, &started);
  if (code == MPI_SUCCESS) p2p::substitute(request, started, sending.take());
  return true;
}

}  // namespace taut::dropin

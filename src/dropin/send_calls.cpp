#include "dropin/send_calls.hpp"

#include "dropin/messages.hpp"
#include "p2p/request_table.hpp"

namespace taut::dropin {

bool send_coded(p2p::SendFunction send, const p2p::SendArguments& message, int& code) noexcept {
  const EncodedMessage made = coded(message);
  if (made.bytes == 0) return false;
  code = p2p::send(send, made, message);
  return true;
}

bool send_coded(p2p::StartFunction start, const p2p::SendArguments& message, MPI_Request* request,
                int& code) noexcept {
  EncodedMessage made = coded(message);
  if (made.bytes == 0) return false;
  code = p2p::start(start, made, message, request);
  if (code == MPI_SUCCESS) p2p::track_send(*request, std::move(made));
  return true;
}

void send_at_each_start(MPI_Request request, p2p::StartFunction start,
                        const p2p::SendArguments& message) noexcept {
  if (kind_of(message)) p2p::track_persistent(request, p2p::PersistentSend{start, message});
}

bool start_coded(MPI_Request request, int& code) noexcept {
  const auto send = p2p::find_persistent_send(request);
  if (!send) return false;
  EncodedMessage made = coded(send->message);
  if (made.bytes == 0) return false;
  MPI_Request started = MPI_REQUEST_NULL;
  code = p2p::start(send->start, made, send->message, &started);
  if (code == MPI_SUCCESS) p2p::substitute(request, started, std::move(made));
  return true;
}

}  // namespace taut::dropin

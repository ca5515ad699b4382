#include "dropin/sends.hpp"

#include "dropin/watched.hpp"

namespace taut::dropin {
namespace {

int start_frames(StartFunction start, const CodedMessage& frames, const Outgoing& message,
                 MPI_Request* request) noexcept {
  return start(frames.memory.get(), units(frames, message.type), message.type, message.dest, message.tag,
               message.comm, request);
}

}  // namespace

bool send_coded(SendFunction send, const Outgoing& message, int& code) noexcept {
  const CodedMessage frames = coded(message);
  if (!frames) return false;
  code = send(frames.memory.get(), units(frames, message.type), message.type, message.dest, message.tag,
              message.comm);
  return true;
}

bool send_coded(StartFunction start, const Outgoing& message, MPI_Request* request, int& code) noexcept {
  CodedMessage frames = coded(message);
  if (!frames) return false;
  code = start_frames(start, frames, message, request);
  if (code == MPI_SUCCESS) keep_until_sent(*request, std::move(frames));
  return true;
}

void send_at_each_start(MPI_Request request, StartFunction start, const Outgoing& message) noexcept {
  if (is_looked_at(message)) send_each(request, {start, message});
}

bool start_coded(MPI_Request request, int& code) noexcept {
  const auto send = find_persistent_send(request);
  if (!send) return false;
  CodedMessage frames = coded(send->message);
  if (!frames) return false;
  MPI_Request started = MPI_REQUEST_NULL;
  code = start_frames(send->start, frames, send->message, &started);
  if (code == MPI_SUCCESS) stand_in(request, started, std::move(frames));
  return true;
}

}  // namespace taut::dropin

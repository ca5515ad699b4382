// Calls that send one message, in all send modes (docs/adr/0014).
#pragma once

#include "communication/p2p/outgoing_message.hpp"

namespace taut::dropin {

// Sends a message: encodes it if a rule asks for coding and the result is shorter, and counts it when it is
// sent or its send has started.
class ProgramSend {
 public:
  explicit ProgramSend(const p2p::MpiMessage& message);
  ~ProgramSend();
  ProgramSend(const ProgramSend&) = delete;

  // Returns true if the message is coded, else MPI has to send the values.
  bool coded() const noexcept { return outgoing_.coded(); }
  bool in_segments() const noexcept { return outgoing_.in_segments(); }

  // Returns the arguments that send a message in one piece: coded, or the values.
  p2p::MpiMessage arguments() const;

  // Send the coded message by the MPI function, or start to send it. Return an MPI error code.
  int send(p2p::SendFunction function);
  int start(p2p::StartFunction function, MPI_Request* request);

  // Moves the message out, to be kept while it is sent.
  p2p::OutgoingMessage take() noexcept;

 private:
  void count() noexcept;

  p2p::MpiMessage message_;
  std::optional<api::DatatypeLayout> kind_;
  p2p::OutgoingMessage outgoing_;
  bool counted_ = false;
};

// Sends a message coded, or starts to, if a rule asks for it; `code` is MPI's. Returns false if the message
// travels as it is.
bool send_coded(p2p::SendFunction send, const p2p::MpiMessage& message, int& code);
bool send_coded(p2p::StartFunction start, const p2p::MpiMessage& message, MPI_Request* request, int& code);

// Tracks a persistent send request of MPI; each of its starts decides if the message is coded.
void send_at_each_start(MPI_Request request, p2p::StartFunction start, const p2p::MpiMessage& message);

// Starts a tracked persistent request with a coded message, whose request completes in its place. Returns
// false if the request is not tracked or its values travel as they are.
bool start_coded(MPI_Request request, int& code);

}  // namespace taut::dropin

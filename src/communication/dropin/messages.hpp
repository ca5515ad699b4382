// Point-to-point messages of programs (docs/adr/0014): agreement on serving them, and the choice of those
// that are sent coded.
#pragma once

#include "communication/p2p/outgoing_message.hpp"
#include "communication/p2p/recv_decode.hpp"

namespace taut::dropin {

// Least size of values that are coded, in bytes; shorter values travel as they are.
inline constexpr std::size_t least_value_bytes = std::size_t{128} << 10;

// Agrees among the ranks on serving messages. Called after MPI_Init by all ranks of MPI_COMM_WORLD, all of
// which run with Taut.
void begin_messages() noexcept;

// Stops coding messages and receives what is in segments; called in MPI_Finalize. Messages in one piece are
// decoded as long as MPI runs callbacks.
void end_messages() noexcept;

// Names the communicator `made`, which all ranks of `parent` have just created, if messages are served. Those
// on communicators without a name stay plain (communication/p2p/credits.hpp).
void name_made(MPI_Comm parent, MPI_Comm made) noexcept;

// Returns the datatype layout of a message that may be sent coded, if a rule applies to it, or that is
// counted for reports. Returns nothing for a message that is left to MPI.
std::optional<api::DatatypeLayout> kind_of(const p2p::SendArguments& message);

// Sends a message: encodes it if a rule asks for coding and the result is shorter, and counts it when it is
// sent or its send has started.
class ProgramSend {
 public:
  explicit ProgramSend(const p2p::SendArguments& message);
  ~ProgramSend();
  ProgramSend(const ProgramSend&) = delete;

  // Returns true if the message is coded, else MPI has to send the values.
  bool coded() const noexcept { return outgoing_.coded(); }
  bool in_segments() const noexcept { return outgoing_.in_segments(); }

  // Returns the buffer arguments of a message in one piece: of the coded message, or of the values.
  p2p::SendBuffer buffer() const;

  // Send the coded message by the MPI function, or start to send it. Return an MPI error code.
  int send(p2p::SendFunction function);
  int start(p2p::StartFunction function, MPI_Request* request);

  // Moves the message out, to be kept while it is sent.
  p2p::OutgoingMessage take() noexcept;

 private:
  void count() noexcept;

  p2p::SendArguments message_;
  std::optional<api::DatatypeLayout> kind_;
  p2p::OutgoingMessage outgoing_;
  bool counted_ = false;
};

// Returns the buffer of a receive of the program.
inline p2p::RecvBuffer here(void* buf, MPI_Count count, MPI_Datatype type, MPI_Comm comm) noexcept {
  return {buf, count, type, comm, p2p::program_endpoint()};
}

}  // namespace taut::dropin

// Point-to-point messages of programs (docs/adr/0014): agreement on serving them, and the choice of those
// that are sent coded.
#pragma once

#include "p2p/recv_decode.hpp"

namespace taut::dropin {

// Least size of values that are coded, in bytes; shorter values travel as they are.
inline constexpr std::size_t least_value_bytes = std::size_t{128} << 10;

// Agrees among the ranks on serving messages. Called after MPI_Init by all ranks of MPI_COMM_WORLD, all of
// which run with Taut.
void begin_messages() noexcept;

// Stops serving messages; called before MPI_Finalize.
void end_messages() noexcept;

// Returns the datatype layout of a message that may be sent coded, if a rule applies to it, or that is
// counted for reports. Returns nothing for a message that is left to MPI.
std::optional<api::DatatypeLayout> kind_of(const p2p::SendArguments& message) noexcept;

// Returns the coded message if a rule asks for coding and the result is shorter; otherwise a message of 0
// bytes. Counts the message.
EncodedMessage coded(const p2p::SendArguments& message) noexcept;

// Returns the buffer of a receive of the program.
inline p2p::RecvBuffer here(void* buf, MPI_Count count, MPI_Datatype type, MPI_Comm comm) noexcept {
  return {buf, count, type, comm, p2p::program_endpoint()};
}

}  // namespace taut::dropin

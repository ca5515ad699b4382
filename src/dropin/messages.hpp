// Messages of programs (docs/adr/0014): whether they are served, and which are sent coded.
#pragma once

#include "p2p/recv_decode.hpp"

namespace taut::dropin {

// Shorter values travel as they are.
inline constexpr std::size_t least_value_bytes = std::size_t{128} << 10;

// After MPI_Init, by all ranks of MPI_COMM_WORLD, all of which run with Taut; they agree.
void begin_messages() noexcept;

// Before MPI_Finalize.
void end_messages() noexcept;

// The kind of values of a message that may be sent coded, if a rule is for it, or is counted for reports.
// Nothing: it is MPI's.
std::optional<api::DatatypeLayout> kind_of(const p2p::SendArguments& message) noexcept;

// The coded message, if a rule asks for one and it is shorter. Counts the message.
EncodedMessage coded(const p2p::SendArguments& message) noexcept;

// The buffer of a receive of the program's.
inline p2p::RecvBuffer here(void* buf, MPI_Count count, MPI_Datatype type, MPI_Comm comm) noexcept {
  return {buf, count, type, comm, p2p::program_endpoint()};
}

}  // namespace taut::dropin

// Endpoint of the program's messages (docs/adr/0014): agreement on serving them, credit, and the choice of
// those that are sent coded.
#pragma once

#include <string>

#include "communication/p2p/send.hpp"

namespace taut::dropin {

// Least size of values that are coded, in bytes; shorter values travel as they are.
inline constexpr std::size_t least_value_bytes = std::size_t{128} << 10;

// Agrees among the ranks on serving messages. Called after MPI_Init by all ranks of MPI_COMM_WORLD, all of
// which run with Taut.
void begin_messages() noexcept;

// Stops coding messages and receives what is in segments; called in MPI_Finalize. Messages in one piece are
// decoded as long as MPI runs callbacks.
void end_messages() noexcept;

// Returns true if sent messages are inspected, to be coded or only counted.
bool inspects_messages() noexcept;

// Gives the communicator `made`, which all ranks of `parent` have just created, the name by which credits
// refer to it (communication/p2p/credits.hpp), if messages are served. Messages on communicators without a
// name stay plain.
void assign_child_name(MPI_Comm parent, MPI_Comm made) noexcept;

// Encodes a message whose layout is known, if a rule asks for coding and the result is shorter; otherwise the
// message says why not.
void encode(p2p::Send& send) noexcept;

// Returns the name of a function by which a loaded object may receive messages, or wait for them, past the
// drop-in: a function of MPICH's module mpi_f08, or of the profiling interface. Returns "" if there is none.
// MPI's own libraries are left out.
std::string unserved_receive();

}  // namespace taut::dropin

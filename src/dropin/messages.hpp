// Messages of programs (docs/adr/0014): whether they are served, and which are sent as frames.
#pragma once

#include <mpi.h>

#include "dropin/coded_message.hpp"

namespace taut::dropin {

// After MPI_Init, by all ranks of MPI_COMM_WORLD, all of which run with Taut; they agree.
void begin_messages() noexcept;

// Before MPI_Finalize.
void end_messages() noexcept;

// Whether coded messages may come, and receives have to be looked at. The same on all ranks.
bool messages_may_be_coded() noexcept;

// A message as frames if it is one to be sent so; no memory: it travels as it is.
CodedMessage coded(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm) noexcept;

}  // namespace taut::dropin

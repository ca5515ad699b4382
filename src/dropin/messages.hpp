// Messages of programs (docs/adr/0014): whether they are served, and which are sent as frames.
#pragma once

#include <mpi.h>

#include "api/plain.hpp"
#include "dropin/coded_message.hpp"

namespace taut::dropin {

// After MPI_Init, by all ranks of MPI_COMM_WORLD, all of which run with Taut; they agree.
void begin_messages() noexcept;

// Before MPI_Finalize.
void end_messages() noexcept;

// Whether coded messages may come, and receives have to be looked at. The same on all ranks.
bool messages_may_be_coded() noexcept;

// What a program sends.
struct Outgoing {
  const void* buf;
  MPI_Count count;
  MPI_Datatype type;
  int dest;
  int tag;
  MPI_Comm comm;
};

// Whether such a message may be sent as frames, if its values are such and a rule is for them, or is counted
// for reports.
bool is_looked_at(const Outgoing& message) noexcept;

// It as frames if it is one to be sent so; no memory: it travels as it is.
CodedMessage coded(const Outgoing& message) noexcept;

// How many elements of the program's type are as long as the frames.
api::plain::Count units(const CodedMessage& frames, MPI_Datatype type) noexcept;

}  // namespace taut::dropin

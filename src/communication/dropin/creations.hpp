// Connection of communicators at their creation.
//
// A nonblocking call must not wait for other ranks, but the private communicator that serves the call is
// created by all ranks together. Creating a communicator waits for its ranks anyway, and takes twice as long
// if a private one is created along with it. The first communicators created from a parent are therefore
// connected at once, and later ones only while the program uses such communicators for nonblocking calls.
// Nonblocking calls on a connected communicator are served from the first one on. Nonblocking calls on any
// other communicator are plain MPI until a blocking call has been served on it.
#pragma once

#include <mpi.h>

namespace taut::dropin {

// Connects MPI_COMM_WORLD. Called after MPI_Init by all ranks, if nonblocking calls are served and all ranks
// have the same rules. Does nothing if rules ask for names, which communicators get after their creation.
void begin_creations() noexcept;
void end_creations() noexcept;

// Names the communicator `made`, which has just been created from `parent`, for messages, and connects it if
// such communicators are connected. Called by all ranks of the parent. `made` is MPI_COMM_NULL on a rank
// outside it.
void note_creation(MPI_Comm parent, MPI_Comm made);

// Notes that a nonblocking call on `comm` is served.
void note_nonblocking_use(MPI_Comm comm);

}  // namespace taut::dropin

// Which communicators are connected where the program makes them.
//
// A nonblocking call must not wait for other ranks, but the private communicator that serves it is made by
// all ranks together. The making of a communicator waits for its ranks anyway, and twice as long if another
// one is made there. So the first communicators made from a parent are connected at once, later ones only
// while the program uses them: then the nonblocking calls on them are served from the first. On the others
// nonblocking calls are plain MPI's until a blocking call has been served.
#pragma once

#include <mpi.h>

namespace taut::dropin {

// After MPI_Init, by all ranks, if nonblocking calls are served and all have the same rules: connects
// MPI_COMM_WORLD. Nothing where rules ask for names, which communicators get after their making.
void begin_creations() noexcept;
void end_creations() noexcept;

// After the making of `made` from `parent`, by all ranks of the parent. MPI_COMM_NULL: this rank is not in
// it.
void connect_made(MPI_Comm parent, MPI_Comm made) noexcept;

// Notes that a nonblocking call on `comm` is served.
void note_nonblocking_use(MPI_Comm comm) noexcept;

}  // namespace taut::dropin

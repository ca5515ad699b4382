// Search of the process's loaded objects for calls that the drop-in cannot intercept.
#pragma once

#include <string>

namespace taut::dropin {

// Returns the name of a function by which a loaded object may receive messages, or wait for them, past the
// drop-in: a function of MPICH's module mpi_f08, or of the profiling interface. Returns "" if there is none.
// MPI's own libraries are left out.
std::string unseen_receives();

}  // namespace taut::dropin

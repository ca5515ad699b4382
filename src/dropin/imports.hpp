// What the objects of this process call.
#pragma once

#include <string>

namespace taut::dropin {

// A function by which an object that is loaded may receive messages, or wait for them, past the drop-in: one
// of MPICH's module mpi_f08, or of the profiling interface; "": there is none. MPI's own libraries are left
// out.
std::string unseen_receives();

}  // namespace taut::dropin

// Start and end of the drop-in, in the program's MPI_Init and MPI_Finalize. src/preload/generate.py generates
// the wrappers of the calls that the drop-in serves.
#pragma once

namespace taut::dropin {

// Starts to serve calls, if all ranks run with Taut. Called by all ranks after MPI_Init.
void after_init() noexcept;

// Stops serving calls before MPI_Finalize. A second call does nothing.
void before_finalize() noexcept;

}  // namespace taut::dropin

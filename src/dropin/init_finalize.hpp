// The begin and the end of the drop-in, in MPI_Init and MPI_Finalize of the program. The calls that it serves
// are made by src/preload/generate.py.
#pragma once

namespace taut::dropin {

// After MPI_Init, by all ranks: begins to serve calls, if all ranks run with Taut.
void after_init() noexcept;

// Before MPI_Finalize; again is nothing.
void before_finalize() noexcept;

}  // namespace taut::dropin

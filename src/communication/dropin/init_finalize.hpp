// Start and end of the drop-in, in the program's MPI_Init and MPI_Finalize.
// src/communication/preload/generate.py generates the wrappers of the calls that the drop-in serves.
#pragma once

namespace taut::dropin {

// Starts to serve calls, if all ranks run with Taut. Called by all ranks after MPI_Init.
void after_init() noexcept;

// Stops coding before MPI_Finalize: MPI serves the calls that the program makes in callbacks of MPI_Finalize.
// Messages that come coded are still decoded, because the program may receive them in its callbacks.
void before_finalize() noexcept;

// Obeys the levels of MPI_Pcontrol that are Taut's own (docs/drop_in.md), and no other: programs mark regions
// for other tools by the levels of these tools, each rank where it likes.
void control(int level) noexcept;

}  // namespace taut::dropin

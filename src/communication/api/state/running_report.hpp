// Thread that writes the file of TAUT_REPORT while the program runs, so that the report of a job that is
// killed remains.
#pragma once

namespace taut::api {

// Starts the thread if TAUT_REPORT is set. Call it after MPI_Init. If the system gives no thread, the report
// is written at MPI_Finalize alone.
void begin_running_report() noexcept;

// Ends the thread, before MPI is finalised.
void end_running_report() noexcept;

}  // namespace taut::api

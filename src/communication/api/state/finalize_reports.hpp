// Reports that are written at MPI_Finalize, at MPI_Pcontrol(9002) and, of TAUT_REPORT, while the program
// runs: TAUT_REPORT, TAUT_TRACE and TAUT_SUMMARY (docs/observe.md).
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "communication/comm/process_report.hpp"
#include "communication/team/recorder.hpp"

namespace taut::api {

// Returns the event recorder of this process; null unless a trace is requested.
Recorder* recorder() noexcept;

// Counts of the drop-in beside those of communicators: the messages of all communicators; the nonblocking and
// persistent collective calls that are left to MPI, by the number of ranks. Null if there is no memory.
struct ProgramReport {
  std::mutex mutex;  // held by the thread that counts or reads
  CommReport messages{.policy = "rules", .name = {"messages"}, .needs = "TAUT_MESSAGES=1"};
  std::map<int, CommReport> nonblocking;
};
ProgramReport* program_report() noexcept;

// Sets the identity of this run, which stands in the reports of all its ranks. Called before the first
// report.
void set_run(std::uint64_t identity) noexcept;

// Returns the names of TAUT_REPORT and TAUT_TRACE, which do not change with the working directory; "": none.
// Called first in MPI_Init or soon after.
struct OutputNames {
  std::string report, trace;
};
const OutputNames& output_names();

// Registers `counts`, which returns the calls that are not served. `counts` is called for each report and
// summary.
void tell_unserved(std::vector<UnservedCalls> (*counts)()) noexcept;

// Returns the rank of this process and its run time. Needs MPI.
ProcessRank this_process(bool finished) noexcept;

// Writes all requested reports, of the open communicators and of the freed ones that were kept.
void write_reports(std::span<const CommReport* const> open_communicators,
                   const ProcessRank& process) noexcept;

// Returns the text of a report on these communicators, and on those that were kept. Makes no call of MPI;
// throws std::bad_alloc.
std::string report_text(std::span<const CommReport* const> open_communicators, ProcessRank process);

// Starts the thread that writes the file of TAUT_REPORT while the program runs, if TAUT_REPORT is set: the
// report of a job that is killed remains. Call it after MPI_Init. If the system gives no thread, the report
// is written at MPI_Finalize alone.
void begin_running_report() noexcept;

// Ends the thread, before MPI is finalised.
void end_running_report() noexcept;

}  // namespace taut::api

// Reports written at MPI_Finalize: TAUT_REPORT, TAUT_TRACE and TAUT_SUMMARY (docs/observe.md).
#pragma once

#include <memory>
#include <mutex>

#include "comm/report.hpp"
#include "core/recorder.hpp"

namespace taut::api {

// Returns the event recorder of this process; null unless a trace is requested.
Recorder* recorder() noexcept;

// Keeps the report of a communicator that is freed, if reports are requested. Bounded: beyond most_kept, or
// if memory is short, communicators share an entry.
inline constexpr std::size_t most_kept = 64;
void keep(std::unique_ptr<CommReport> gone) noexcept;

// Report of the messages of all communicators under the drop-in. message_report() is null if there is no
// memory.
struct MessageReport {
  std::mutex mutex;  // held by the thread that counts or reads
  CommReport observed{.policy = "rules", .name = {"messages"}};
};
MessageReport* message_report() noexcept;

// Registers `counts`, which returns the calls that are not served. `counts` is called for each report and
// summary.
void tell_unserved(std::vector<UnservedCalls> (*counts)()) noexcept;

// Writes all requested reports, of the open communicators and of the freed ones that were kept. Needs MPI.
void write_reports(std::span<const CommReport* const> open_communicators) noexcept;

}  // namespace taut::api

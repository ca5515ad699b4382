// What is written at MPI_Finalize: TAUT_REPORT, TAUT_TRACE and TAUT_SUMMARY (docs/observe.md).
#pragma once

#include <memory>
#include <mutex>

#include "comm/report.hpp"
#include "core/recorder.hpp"

namespace taut::api {

// Of this process; null unless a trace is asked for.
Recorder* recorder() noexcept;

// Keeps the calls of a communicator that is gone, if a report is asked for. Bounded: beyond most_kept, or
// where memory lacks, communicators share an entry.
inline constexpr std::size_t most_kept = 64;
void keep(std::unique_ptr<CommReport> gone) noexcept;

// Messages under the drop-in, of all communicators. Null: there is no memory for them.
struct MessageReport {
  std::mutex mutex;  // held by who counts or reads
  CommReport observed{.policy = "rules", .name = {"messages"}};
};
MessageReport* message_report() noexcept;

// `counts` tells which calls are not served; it is asked whenever a report or summary is written.
void tell_unserved(std::vector<UnservedCalls> (*counts)()) noexcept;

// Writes all that is asked for, of the communicators that are still there and of those kept. Needs MPI.
void write_reports(std::span<const CommReport* const> open_communicators) noexcept;

}  // namespace taut::api

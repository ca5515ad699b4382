// Writes the report on the calls of NCCL under the drop-in when the process ends (TAUT_REPORT, TAUT_SUMMARY).
#pragma once

#include <memory>
#include <vector>

#include "communication/comm/process_report.hpp"

namespace taut::nccl::dropin {

// Notes a communicator. The report names the process by its rank in the first of the largest communicators.
void note_communicator(int rank, int ranks);

// Registers a handler that writes the report when the process ends. `open` returns the reports of the
// communicators that exist then. Later calls do nothing.
void report_at_exit(std::vector<std::unique_ptr<CommReport>> (*open)());

}  // namespace taut::nccl::dropin

// Counts the calls of NCCL's functions under the drop-in, for reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "communication/comm/process_report.hpp"
#include "communication/comm/report.hpp"

namespace taut::nccl::dropin {

// Functions of NCCL whose calls on a communicator keep the program's order.
enum class Function {
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  bcast,
  reduce,
  all_to_all,
  gather,
  scatter,
  send,
  recv,
  destroy_operator
};

// The library that served a call. by_taut: compressed.
enum class Service { by_taut, by_nccl };

// Counts a call. `bytes`: of the whole message.
void count(Function function, Service service, std::size_t bytes) noexcept;

// Counts a communicator that the program creates with blocking = 0.
void count_nonblocking() noexcept;
std::uint64_t nonblocking_count() noexcept;

// Returns the counts of all functions that were called.
std::vector<NcclCalls> function_counts();

// Notes a communicator. The report names the process by its rank in the first of the largest communicators.
void note_communicator(int rank, int ranks);

// Registers a handler that writes the report when the process ends. stop_and_report() stops the threads, also
// where there is nothing to report, and returns the reports of the communicators that exist then. Later calls
// do nothing.
void report_at_exit(std::vector<std::unique_ptr<CommReport>> (*stop_and_report)());

}  // namespace taut::nccl::dropin

// Writes the report and the summary on calls of NCCL when the process ends. Declared in counts.hpp.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "communication/comm/explain.hpp"
#include "communication/nccl/dropin/counts.hpp"
#include "compressor/base/guarded.hpp"
#include "compressor/base/options.hpp"

namespace taut::nccl::dropin {
namespace {

// The process, and what stops its threads and gives its reports.
struct ExitReport {
  std::mutex mutex;
  ProcessRank process;
  std::vector<std::unique_ptr<CommReport>> (*stop_and_report)() = nullptr;
};
ExitReport& exit_report() {
  static auto* const one = new ExitReport;
  return *one;
}

void print_summary(std::span<const CommReport* const> communicators) {
  std::string text = summary_table(communicators, exit_report().process);
  for (const NcclCalls& one : function_counts())
    text += std::string("taut: ") + one.name + ": " + std::to_string(one.served_calls) +
            " calls compressed (" + size_text(one.served_bytes) + "), " + std::to_string(one.left_calls) +
            " left to NCCL (" + size_text(one.left_bytes) + ")\n";
  std::fputs(text.c_str(), stderr);
}

void write_at_exit() noexcept {
  ProcessRank& process = exit_report().process;
  const Status status = guarded([&] {
    const std::lock_guard lock(exit_report().mutex);
    const std::vector<std::unique_ptr<CommReport>> open = exit_report().stop_and_report();
    if (function_counts().empty()) return;  // the threads are stopped
    std::vector<const CommReport*> all;
    const std::unique_lock<std::mutex> unchanged = add_kept(all);  // while they are written
    for (const auto& one : open) all.push_back(one.get());
    process.seconds = run_time();
    process.finished = true;
    const std::string& report = options().report;
    write_output(report.empty() ? "" : report + ".nccl", process, [&](const std::string& name) {
      return write_text(name, report_json(all, process, {}, function_counts(), nonblocking_count()));
    });
    if (options().summary && process.rank == 0) print_summary(all);
  });
  if (status != Status::ok) complain("the report on calls of NCCL", describe(status));
}

}  // namespace

void note_communicator(int rank, int ranks) {
  const std::lock_guard lock(exit_report().mutex);
  if (ranks <= exit_report().process.ranks) return;
  exit_report().process.rank = rank;
  exit_report().process.ranks = ranks;
}

void report_at_exit(std::vector<std::unique_ptr<CommReport>> (*stop_and_report)()) {
  const std::lock_guard lock(exit_report().mutex);
  if (exit_report().stop_and_report != nullptr) return;
  exit_report().stop_and_report = stop_and_report;
  options();  // constructed before the handler is registered: destroyed after the handler has run
  std::atexit(write_at_exit);
}

}  // namespace taut::nccl::dropin

#include "api/state/finalize_reports.hpp"

#include <mpi.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>

#include "comm/trace.hpp"
#include "core/phase_times.hpp"
#include "policy/text/options.hpp"

namespace taut::api {
namespace {

// Time when this library was loaded: with the program, or in MPI_Init.
const std::uint64_t begin = clock_now();

// Reports of freed communicators. Never destroyed, so that they outlive static destructors.
struct Kept {
  std::mutex mutex;
  std::vector<std::unique_ptr<CommReport>> each;
  CommReport rest{.communicators = 0, .freed = true};
};
Kept* kept() noexcept {
  static auto* const all = new (std::nothrow) Kept;
  return all;
}

std::atomic<std::vector<UnservedCalls> (*)()> unserved_counts{nullptr};

void complain(const std::string& name, const char* why) noexcept {
  std::fprintf(stderr, "taut: cannot write %s: %s\n", name.c_str(), why);
}

// Writes a file. `write(file)` returns true if it succeeded.
template <class Write>
void write_file(const std::string& pattern, const ProcessRank& process, Write write) {
  if (pattern.empty()) return;
  const std::string name = file_name(pattern, process);
  std::FILE* const file = std::fopen(name.c_str(), "w");
  bool good = file != nullptr && write(file);
  if (file != nullptr) good &= std::fclose(file) == 0;
  if (!good) complain(name, std::strerror(errno));
}

void write_all(std::span<const CommReport* const> communicators, const ProcessRank& process) {
  const Options& asked = options();
  const auto counts = unserved_counts.load();
  const std::vector<UnservedCalls> unserved = counts != nullptr ? counts() : std::vector<UnservedCalls>();
  write_file(asked.report, process, [&](std::FILE* file) {
    const std::string text = report_json(communicators, process, unserved);
    return std::fwrite(text.data(), 1, text.size(), file) == text.size();
  });
  write_file(asked.trace, process, [&](std::FILE* file) {
    return recorder() != nullptr && write_trace(file, *recorder(), process.rank);
  });
  if (asked.summary && process.rank == 0)
    std::fputs(summary_table(communicators, process, unserved).c_str(), stderr);
}

}  // namespace

Recorder* recorder() noexcept {
  static Recorder* const one = options().trace.empty() ? nullptr : new (std::nothrow) Recorder;
  return one;
}

void keep(std::unique_ptr<CommReport> gone) noexcept {
  if (!options().observe() || gone->calls.total().calls == 0 || kept() == nullptr) return;
  gone->freed = true;
  Kept& all = *kept();
  const std::lock_guard lock(all.mutex);
  try {
    if (all.each.size() < most_kept) return all.each.push_back(std::move(gone));
  } catch (const std::bad_alloc&) {
  }
  all.rest.calls.merge(gone->calls);
  ++all.rest.communicators;
}

void tell_unserved(std::vector<UnservedCalls> (*counts)()) noexcept { unserved_counts = counts; }

MessageReport* message_report() noexcept {
  static auto* const all = new (std::nothrow) MessageReport;
  return all;
}

void write_reports(std::span<const CommReport* const> open_communicators) noexcept {
  if (!options().observe()) return;
  try {
    ProcessRank process;
    PMPI_Comm_rank(MPI_COMM_WORLD, &process.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &process.ranks);
    process.seconds = seconds(clock_now() - begin);
    std::vector<const CommReport*> communicators;
    if (kept() != nullptr) {
      for (const auto& gone : kept()->each) communicators.push_back(gone.get());
      if (kept()->rest.communicators != 0) communicators.push_back(&kept()->rest);
    }
    communicators.insert(communicators.end(), open_communicators.begin(), open_communicators.end());
    MessageReport* const messages = message_report();
    if (messages == nullptr) return write_all(communicators, process);
    const std::lock_guard lock(messages->mutex);
    messages->observed.ranks = process.ranks;
    if (!messages->observed.calls.rows().empty()) communicators.push_back(&messages->observed);
    write_all(communicators, process);
  } catch (...) {
    complain("what TAUT_REPORT, TAUT_TRACE or TAUT_SUMMARY ask for", "out of memory");
  }
}

}  // namespace taut::api

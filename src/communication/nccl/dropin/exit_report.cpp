#include "communication/nccl/dropin/exit_report.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>
#include <string>

#include "communication/comm/explain.hpp"
#include "communication/nccl/dropin/counts.hpp"
#include "communication/team/phase_times.hpp"
#include "compressor/base/options.hpp"
#include "compressor/base/output_file.hpp"

namespace taut::nccl::dropin {
namespace {

const std::uint64_t begin = clock_now();

struct Kept {
  std::mutex mutex;
  ProcessRank process;
  std::vector<std::unique_ptr<CommReport>> gone;
  std::vector<std::unique_ptr<CommReport>> (*open)() = nullptr;
};
Kept& kept() {
  static auto* const one = new Kept;
  return *one;
}

void write_report(const std::string& pattern, std::span<const CommReport* const> communicators) {
  const ProcessRank& process = kept().process;
  const std::string name = file_name(pattern + ".nccl", process);
  const std::string text = report_json(communicators, process, {}, counted(), counted_nonblocking());
  const auto write = [&](std::FILE* file) {
    return std::fwrite(text.data(), 1, text.size(), file) == text.size();
  };
  if (const int code = write_file(name, write); code != 0)
    std::fprintf(stderr, "taut: cannot write %s: %s\n", name.c_str(), std::strerror(code));
}

void print_summary(std::span<const CommReport* const> communicators) {
  std::string text = summary_table(communicators, kept().process);
  for (const NcclCalls& one : counted())
    text += std::string("taut: ") + one.name + ": " + std::to_string(one.served_calls) +
            " calls compressed (" + size_text(one.served_bytes) + "), " + std::to_string(one.left_calls) +
            " left to NCCL (" + size_text(one.left_bytes) + ")\n";
  std::fputs(text.c_str(), stderr);
}

void write_at_exit() noexcept {
  try {
    const std::lock_guard lock(kept().mutex);
    std::vector<std::unique_ptr<CommReport>> open = kept().open();
    if (counted().empty()) return;
    std::vector<const CommReport*> all;
    for (const auto& one : kept().gone) all.push_back(one.get());
    for (const auto& one : open) all.push_back(one.get());
    kept().process.seconds = seconds(clock_now() - begin);
    kept().process.finished = true;
    if (!options().report.empty()) write_report(options().report, all);
    if (options().summary && kept().process.rank == 0) print_summary(all);
  } catch (...) {
    std::fputs("taut: no memory for the report on calls of NCCL\n", stderr);
  }
}

}  // namespace

void note_communicator(int rank, int ranks) {
  const std::lock_guard lock(kept().mutex);
  if (ranks <= kept().process.ranks) return;
  kept().process.rank = rank;
  kept().process.ranks = ranks;
}

void keep_report(std::unique_ptr<CommReport> gone) {
  if (gone == nullptr || gone->calls.total().calls == 0) return;
  gone->freed = true;
  const std::lock_guard lock(kept().mutex);
  kept().gone.push_back(std::move(gone));
}

void report_at_exit(std::vector<std::unique_ptr<CommReport>> (*open)()) {
  const std::lock_guard lock(kept().mutex);
  if (kept().open != nullptr) return;
  kept().open = open;
  options();  // constructed before the handler is registered: destroyed after the handler has run
  std::atexit(write_at_exit);
}

}  // namespace taut::nccl::dropin

#include "communication/comm/process_report.hpp"

#include <cerrno>

#include "communication/comm/output_file.hpp"
#include "communication/team/recorder.hpp"
#include "compressor/base/guarded.hpp"
#include "compressor/base/options.hpp"

namespace taut {
namespace {

const std::uint64_t begin = clock_now();

// Reports of freed communicators. Never destroyed: they outlive static destructors.
struct FreedReports {
  std::mutex mutex;
  std::vector<std::unique_ptr<CommReport>> each;
  CommReport rest{.communicators = 0, .freed = true};
};
FreedReports& freed = *new FreedReports;

}  // namespace

double run_time() noexcept { return seconds(clock_now() - begin); }

double processor_wait() noexcept {
  std::FILE* const file = std::fopen("/proc/self/schedstat", "re");
  if (file == nullptr) return ProcessRank::unknown_wait;
  unsigned long long running = 0, waiting = 0;  // nanoseconds
  const bool known = std::fscanf(file, "%llu %llu", &running, &waiting) == 2 && running > 0;
  std::fclose(file);
  return known ? static_cast<double>(waiting) * 1e-9 : ProcessRank::unknown_wait;
}

void keep(std::unique_ptr<CommReport> gone) noexcept {
  if (!options().observe() || gone == nullptr || gone->calls.total().calls == 0) return;
  gone->freed = true;
  const std::lock_guard lock(freed.mutex);
  const auto add = [&] { freed.each.push_back(std::move(gone)); };
  if (freed.each.size() < most_kept && guarded(add) == Status::ok) return;
  freed.rest.calls.merge(gone->calls);
  ++freed.rest.communicators;
}

std::unique_lock<std::mutex> add_kept(std::vector<const CommReport*>& all) {
  std::unique_lock lock(freed.mutex);
  for (const auto& gone : freed.each) all.push_back(gone.get());
  if (freed.rest.communicators != 0) all.push_back(&freed.rest);
  return lock;
}

void complain(const std::string& name, const char* why) noexcept {
  std::fprintf(stderr, "taut: cannot write %s: %s\n", name.c_str(), why);
}

int write_text(const std::string& name, const std::string& text) noexcept {
  int code = ENOMEM;
  const auto write = [&](std::FILE* file) {
    return std::fwrite(text.data(), 1, text.size(), file) == text.size();
  };
  guarded([&] { code = write_file(name, write); });
  return code;
}

}  // namespace taut

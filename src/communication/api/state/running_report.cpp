#include "communication/api/state/finalize_reports.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "communication/api/state/comm_registry.hpp"
#include "communication/mpi/lasting.hpp"
#include "communication/team/own_thread.hpp"
#include "compressor/base/guarded.hpp"
#include "compressor/base/options.hpp"

namespace taut::api {
namespace {

using namespace std::chrono_literals;

// The report is written after intervals of 1, 2, 4 ... 32 s, then of a minute: a job of many ranks makes few
// files a second.
constexpr std::chrono::seconds first_interval = 1s, last_interval = 60s;
constexpr int attempts = 100;  // to copy the reports of communicators that are in use
constexpr auto retry_interval = 2ms;

struct Writer {
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
  bool runs = false, stops = false;
};

constexpr auto writer = lasting<Writer>;

// Waits. Returns true if the thread has to end.
bool stopped_within(Writer& mine, std::chrono::milliseconds time) {
  std::unique_lock lock(mine.mutex);
  return mine.changed.wait_for(lock, time, [&] { return mine.stops; });
}

void write(const std::string& name, const ProcessRank& process) noexcept {
  guarded([&] { write_text(name, text_of_copied_reports(process)); });  // next time if memory is short
}

// The arguments are copies: static objects may be destroyed while the thread runs.
void write_regularly(const std::string name, const ProcessRank process) noexcept {
  Writer& mine = writer();
  auto interval = first_interval;
  for (unsigned round = 1; !stopped_within(mine, interval); ++round) {
    for (int i = 0; i < attempts && !copy_reports(round); ++i)
      if (stopped_within(mine, retry_interval)) return;
    write(name, process);
    interval = std::min(2 * interval, last_interval);
  }
}

}  // namespace

void begin_running_report() noexcept {
  Writer& mine = writer();
  guarded([&] {
    const ProcessRank process = this_process(false);
    if (output_names().report.empty()) return;
    const std::lock_guard lock(mine.mutex);
    mine.stops = false;
    mine.thread = start_own_thread(write_regularly, file_name(output_names().report, process), process);
    mine.runs = true;
  });
}

void end_running_report() noexcept {
  Writer& mine = writer();
  {
    const std::lock_guard lock(mine.mutex);
    if (!mine.runs) return;
    mine.runs = false;
    mine.stops = true;
    mine.changed.notify_one();
  }
  mine.thread.join();
}

}  // namespace taut::api

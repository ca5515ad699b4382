// Times of work on a GPU that are worth comparing: the GPU runs at its full clock, small calls are replayed
// from a graph, and buffers alternate so that large ones do not come from the cache.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "device.hpp"

namespace taut::gpu {

// Settings of a run. A rehearsal without a GPU makes them small.
struct Settings {
  std::size_t most_values = std::size_t{1} << 28;  // longer arrays are left out
  double spin_ms = 320;                            // time that the GPU is busy before each timed region
  // Calls on up to that many bytes of values are timed as replays of a graph of some calls: their launches by
  // the host would take longer than their kernels.
  std::size_t replay_bytes = std::size_t{4} << 20;
  int times = 20;  // timed calls, or replays
};
inline Settings settings;
inline constexpr int replayed_calls = 10;

// plain.cu: keeps all multiprocessors busy for a time, in the order of the stream; measures the clock of a
// multiprocessor, in MHz, and waits for it.
void spin(double milliseconds, cudaStream_t stream);
double sm_clock(cudaStream_t stream);
std::size_t cache_bytes();

// Number of sets of buffers that calls take by turns. Together they exceed the cache three times if a call
// moves more than Settings::replay_bytes. Small calls have two sets, which stay in the cache.
inline int sets_for(std::size_t moved_bytes) {
  if (moved_bytes <= settings.replay_bytes) return 2;
  return static_cast<int>(std::clamp<std::size_t>(1 + 3 * cache_bytes() / moved_bytes, 2, 16));
}

// Buffers of equal size and contents, of which call i takes number i modulo their number.
class Buffers {
 public:
  Buffers(int sets, std::size_t bytes) {
    for (int i = 0; i < sets; ++i) all_.push_back(std::make_unique<Device>(bytes));
  }
  Buffers(int sets, const void* from, std::size_t bytes) {
    for (int i = 0; i < sets; ++i) all_.push_back(std::make_unique<Device>(from, bytes));
  }
  void* at(int i) const { return all_[static_cast<std::size_t>(i) % all_.size()]->at(); }
  std::size_t bytes() const { return all_.front()->bytes(); }
  int sets() const { return static_cast<int>(all_.size()); }

 private:
  std::vector<std::unique_ptr<Device>> all_;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_)); }
  Event(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream)); }
  void wait() const { check(cudaEventSynchronize(event_)); }
  double seconds_since(const Event& from) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, from.event_, event_));
    return ms * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// A graph of some calls.
class Replay {
 public:
  template <class Action>
  Replay(cudaStream_t stream, const Action& action) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < replayed_calls; ++i) failures += action(i) != 0;
    check(cudaStreamEndCapture(stream, &graph_));
    check(cudaGraphInstantiate(&runnable_, graph_, 0));
  }
  Replay(const Replay&) = delete;
  ~Replay() {
    cudaGraphExecDestroy(runnable_);
    cudaGraphDestroy(graph_);
  }
  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(runnable_, stream)); }

  int failures = 0;

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t runnable_ = nullptr;
};

// Seconds of a call: the fastest, and the median.
struct Timing {
  double best, median, sm_mhz;
  bool replayed;
  int failures;  // calls that were refused
};

// Times action(i), which enqueues call i and returns its status, on `bytes` bytes of values. The first call
// is not timed: it takes scratch memory and loads kernels, which a capture must not.
template <class Action>
Timing timed(cudaStream_t stream, std::size_t bytes, const Action& action) {
  Timing t{0, 0, 0, bytes <= settings.replay_bytes, action(0) != 0};
  check(cudaStreamSynchronize(stream));
  const std::unique_ptr<Replay> replay = t.replayed ? std::make_unique<Replay>(stream, action) : nullptr;
  const Event from, to;
  std::vector<double> seconds;
  spin(settings.spin_ms, stream);
  for (int i = 0; i < settings.times + 2; ++i) {
    from.record(stream);
    if (replay) {
      replay->launch(stream);
    } else {
      t.failures += action(i) != 0;
    }
    to.record(stream);
    to.wait();
    if (i >= 2) seconds.push_back(to.seconds_since(from) / (replay ? replayed_calls : 1));
  }
  t.sm_mhz = sm_clock(stream);
  t.failures += replay ? replay->failures : 0;
  std::sort(seconds.begin(), seconds.end());
  t.best = seconds.front();
  t.median = seconds[seconds.size() / 2];
  return t;
}

// Prints the line of a benchmark. `status`: of the last call's kernels. `copied`: GB/s of a copy.
inline void report(const std::string& what, std::size_t bytes, double ratio, const Timing& t, double copied,
                   std::uint32_t status = 0) {
  const double rate = static_cast<double>(bytes) / t.median / 1e9;
  std::printf(
      "{\"bench\": \"%s\", \"bytes\": %zu, \"ratio\": %.2f, \"median_us\": %.2f, \"best_us\": %.2f, "
      "\"GB/s\": %.1f, \"of_copy\": %.3f, \"sm_mhz\": %.0f, \"in_graph\": %s",
      what.c_str(), bytes, ratio, t.median * 1e6, t.best * 1e6, rate, copied > 0 ? rate / copied : 1.0,
      t.sm_mhz, t.replayed ? "true" : "false");
  if (t.failures > 0 || status != 0)
    std::printf(", \"ok\": false, \"refused\": %d, \"status\": %u", t.failures, status);
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace taut::gpu

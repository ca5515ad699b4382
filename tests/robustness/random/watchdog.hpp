// A watchdog that ends the program when a step takes too long: a hang is a finding. It counts processor time,
// so that a busy machine causes no finding; for a program without any activity, it counts ten times as much
// wall-clock time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>

namespace taut::test {

class Watchdog {
 public:
  explicit Watchdog(int seconds) : limit_(seconds), thread_([this] { watch(); }) {}
  Watchdog(const Watchdog&) = delete;
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  // Begins the step that is timed.
  void begin(const std::string& what) {
    const std::lock_guard lock(mutex_);
    what_ = what;
    began_ = Clock::now();
    used_ = std::clock();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    what_.clear();
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!over_) {
      changed_.wait_for(lock, std::chrono::milliseconds(500));
      if (what_.empty() || over_ || !too_long()) continue;
      std::printf("FAILED %s\n  hung: not done after %d s\n", what_.c_str(), limit_);
      std::fflush(stdout);
      std::_Exit(1);
    }
  }

  bool too_long() const {
    const double busy = static_cast<double>(std::clock() - used_) / CLOCKS_PER_SEC;
    return busy > limit_ || Clock::now() - began_ > std::chrono::seconds(10 * limit_);
  }

  using Clock = std::chrono::steady_clock;
  int limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  Clock::time_point began_;
  std::clock_t used_ = 0;  // processor time of all threads
  bool over_ = false;
  std::thread thread_;
};

}  // namespace taut::test

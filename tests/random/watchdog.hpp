// Ends the program when something takes too long: a hang is a finding.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
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

  // From now on this is what takes time.
  void begin(const std::string& what) {
    const std::lock_guard lock(mutex_);
    what_ = what;
    deadline_ = std::chrono::steady_clock::now() + std::chrono::seconds(limit_);
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
      if (what_.empty() || over_ || std::chrono::steady_clock::now() < deadline_) continue;
      std::printf("FAILED %s\n  hung: not done after %d s\n", what_.c_str(), limit_);
      std::fflush(stdout);
      std::_Exit(1);
    }
  }

  int limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  std::chrono::steady_clock::time_point deadline_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace taut::test

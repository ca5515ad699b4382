// A line on the terminal that says how far a command is.
#pragma once

#include <chrono>
#include <cstdint>

namespace taut::cli {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// On stderr, where that is a terminal; at most ten times a second. Gone when the object is.
class Progress {
 public:
  Progress(const char* what, std::uint64_t total_bytes, bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void advance(std::uint64_t bytes);

 private:
  const char* what_;
  std::uint64_t total_, done_ = 0;
  bool shown_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace taut::cli

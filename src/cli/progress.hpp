// Progress line on the terminal.
#pragma once

#include <chrono>
#include <cstdint>

namespace taut::cli {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Progress line on stderr, if stderr is a terminal; updated at most ten times a second. The destructor
// removes the line.
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

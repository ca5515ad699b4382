#include "cli/progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace taut::cli {

Progress::Progress(const char* what, std::uint64_t total_bytes, bool quiet)
    : what_(what), total_(total_bytes), shown_(!quiet && isatty(STDERR_FILENO) == 1) {}

void Progress::advance(std::uint64_t bytes) {
  done_ += bytes;
  if (!shown_ || seconds_since(last_) < 0.1) return;
  last_ = Clock::now();
  const double done = static_cast<double>(done_);
  std::fprintf(stderr, "\r%s: %3.0f %%, %.2f GB/s ", what_, 100 * done / static_cast<double>(total_),
               done / seconds_since(start_) * 1e-9);
}

Progress::~Progress() {
  if (shown_ && last_ != start_) std::fprintf(stderr, "\r\033[K");
}

}  // namespace taut::cli

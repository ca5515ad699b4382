// Times things in alternation.
#pragma once

#include <functional>
#include <vector>

namespace bench {

// Time of this thread: what others run meanwhile on the same core does not count. For calls that use several
// threads, that of the wall.
enum class Clock { thread, wall };

struct Alternation {
  double seconds = 0;       // of one call of the subject: median of the samples
  double copy_seconds = 0;  // of one call of memcpy beside it
  int samples = 0;          // of each
};

// memcpy, subject, memcpy, subject, ..: for `seconds` of this thread, between 7 and 101 samples each. `warm`:
// each sample is preceded by a call that is not timed, so that both find their own data in the cache.
Alternation alternate(const std::function<void()>& subject, const std::function<void()>& copy, bool warm,
                      double seconds);

// The same for any number of calls: medians of what one call of each takes, in seconds.
std::vector<double> medians(const std::vector<std::function<void()>>& calls, bool warm, Clock clock,
                            double seconds, int* samples = nullptr);

}  // namespace bench

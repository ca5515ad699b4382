// Timing of functions in alternation.
#pragma once

#include <functional>
#include <vector>

namespace bench {

// Clock of a measurement. `thread` is the processor time of this thread, so other work on the core does not
// count; `wall` is for calls that use several threads.
enum class Clock { thread, wall };

struct Alternation {
  double seconds = 0;       // seconds of one call of the subject: median of the samples
  double copy_seconds = 0;  // seconds of one memcpy beside it
  int samples = 0;          // number of samples of each
};

// Times memcpy, subject, memcpy, subject, ... for `seconds` of this thread, 7 to 101 samples each. `warm`: an
// untimed call precedes each sample, so that memcpy and the subject each find their own data in the cache.
Alternation alternate(const std::function<void()>& subject, const std::function<void()>& copy, bool warm,
                      double seconds);

// Times any number of functions in alternation; returns the median seconds of one call of each.
std::vector<double> medians(const std::vector<std::function<void()>>& calls, bool warm, Clock clock,
                            double seconds, int* samples = nullptr);

}  // namespace bench

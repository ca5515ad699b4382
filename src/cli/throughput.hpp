// Comparable measurement of speeds.
#pragma once

#include <functional>
#include <vector>

namespace taut::cli {

// Returns the median seconds of each call. The calls run in turn, because the speed of memory changes from
// minute to minute on a shared machine. The clock is this thread's CPU time, so that neighbours on the core
// do not count.
std::vector<double> median_seconds(const std::vector<std::function<void()>>& calls, double seconds_for_all);

}  // namespace taut::cli

// Speeds, measured so that they can be compared.
#pragma once

#include <functional>
#include <vector>

namespace taut::cli {

// Seconds that a call of each takes, medians. They take turns, as the speed of memory changes from minute to
// minute on a shared machine. Time of this thread, so that neighbours on the core do not count.
std::vector<double> median_seconds(const std::vector<std::function<void()>>& calls, double seconds_for_all);

}  // namespace taut::cli

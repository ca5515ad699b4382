#include "alternation.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench {
namespace {

constexpr double shortest_sample = 100e-6;  // some thousand times what reading the clock takes
constexpr std::size_t least_samples = 7, most_samples = 101;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One of the two, its calls a sample, and the samples so far.
class Runner {
 public:
  Runner(const std::function<void()>& call, bool warm) : call_(call), warm_(warm) {
    call_();  // touches all pages
    const double once = time(1);
    calls_ = std::max(1, static_cast<int>(shortest_sample / std::max(once, 1e-8)));
  }
  void sample() {
    if (warm_) call_();
    samples_.push_back(time(calls_) / calls_);
  }
  double median() {
    const std::size_t middle = samples_.size() / 2;
    std::sort(samples_.begin(), samples_.end());
    return samples_.size() % 2 ? samples_[middle] : (samples_[middle - 1] + samples_[middle]) / 2;
  }

 private:
  double time(int calls) const {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < calls; ++i) call_();
    return seconds_since(start);
  }

  const std::function<void()>& call_;
  bool warm_;
  int calls_ = 1;
  std::vector<double> samples_;
};

}  // namespace

Alternation alternate(const std::function<void()>& subject, const std::function<void()>& copy, bool warm,
                      double seconds) {
  Runner copying(copy, warm), working(subject, warm);
  const Clock::time_point start = Clock::now();
  std::size_t samples = 0;
  while (samples < least_samples || (samples < most_samples && seconds_since(start) < seconds)) {
    copying.sample();
    working.sample();
    ++samples;
  }
  return {working.median(), copying.median(), static_cast<int>(samples)};
}

}  // namespace bench

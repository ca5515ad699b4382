#include "alternation.hpp"

#include <algorithm>
#include <ctime>
#include <vector>

namespace bench {
namespace {

constexpr double shortest_sample = 100e-6;  // some hundred times the cost of reading the clock
constexpr std::size_t least_samples = 7, most_samples = 101;

double now(Clock clock) {
  timespec time{};
  clock_gettime(clock == Clock::thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// One timed function: its calls in a sample, and the samples so far.
class Runner {
 public:
  Runner(const std::function<void()>& call, bool warm, Clock clock)
      : call_(call), warm_(warm), clock_(clock) {
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
    const double start = now(clock_);
    for (int i = 0; i < calls; ++i) call_();
    return now(clock_) - start;
  }

  std::function<void()> call_;
  bool warm_;
  Clock clock_;
  int calls_ = 1;
  std::vector<double> samples_;
};

}  // namespace

Alternation alternate(const std::function<void()>& subject, const std::function<void()>& copy, bool warm,
                      double seconds) {
  int samples = 0;
  const std::vector<double> times = medians({copy, subject}, warm, Clock::thread, seconds, &samples);
  return {times[1], times[0], samples};
}

std::vector<double> medians(const std::vector<std::function<void()>>& calls, bool warm, Clock clock,
                            double seconds, int* samples) {
  std::vector<Runner> runners;
  for (const std::function<void()>& call : calls) runners.emplace_back(call, warm, clock);
  const double start = now(clock);
  std::size_t n = 0;
  for (; n < least_samples || (n < most_samples && now(clock) - start < seconds); ++n)
    for (Runner& runner : runners) runner.sample();
  std::vector<double> result;
  for (Runner& runner : runners) result.push_back(runner.median());
  if (samples != nullptr) *samples = static_cast<int>(n);
  return result;
}

}  // namespace bench

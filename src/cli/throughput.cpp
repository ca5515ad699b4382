#include "cli/throughput.hpp"

#include <algorithm>
#include <ctime>

namespace taut::cli {
namespace {

constexpr double shortest_sample = 100e-6;  // some hundred times the cost of reading the clock
constexpr std::size_t least_samples = 5, most_samples = 101;

double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double seconds_of(const std::function<void()>& call, int times) {
  const double start = now();
  for (int i = 0; i < times; ++i) call();
  return (now() - start) / times;
}

}  // namespace

std::vector<double> median_seconds(const std::vector<std::function<void()>>& calls, double seconds_for_all) {
  std::vector<int> times;
  for (const auto& call : calls) {
    call();  // touches all pages
    times.push_back(std::max(1, static_cast<int>(shortest_sample / std::max(seconds_of(call, 1), 1e-8))));
  }
  std::vector<std::vector<double>> samples(calls.size());
  const double start = now();
  for (std::size_t n = 0; n < least_samples || (n < most_samples && now() - start < seconds_for_all); ++n)
    for (std::size_t i = 0; i < calls.size(); ++i) samples[i].push_back(seconds_of(calls[i], times[i]));

  std::vector<double> medians;
  for (auto& of_call : samples) {
    const auto middle = of_call.begin() + static_cast<std::ptrdiff_t>(of_call.size() / 2);
    std::ranges::nth_element(of_call, middle);
    medians.push_back(*middle);
  }
  return medians;
}

}  // namespace taut::cli

// taut_bench_threads: gain of a second thread for one frame, when frames follow each other at once and when
// the threads have slept in between (bench/results/tuning/README.md). It reports the minimum and the
// first quartile, because other work on a machine disturbs the other figures.
#define TAUT_NO_MPI
#include <taut/taut.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

struct Times {
  double least, quartile;  // microseconds; the minimum without the lowest 1 %
};

template <class Work>
Times measure(int times, std::chrono::milliseconds rest, Work work) {
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    if (rest.count() > 0) std::this_thread::sleep_for(rest);
    const auto begin = Clock::now();
    work();
    all.push_back(Microseconds(Clock::now() - begin).count());
  }
  std::ranges::sort(all);
  return {all[all.size() / 100], all[all.size() / 4]};
}

void measure_frame(const std::string& codec, std::size_t count, std::chrono::milliseconds rest) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = static_cast<float>(i);
    values[i] = std::sin(0.001F * x) + 0.01F * std::sin(1.7F * x * x);
  }
  std::vector<char> frame(TAUT_Max_bytes(TAUT_FLOAT32, count, 1));
  std::printf("%s %6zu KiB %s:", codec.c_str(), count * sizeof(float) / 1024,
              rest.count() > 0 ? "cold" : "hot ");
  for (const int threads : {1, 2}) {
    const std::string coding = "abs:1e-4,codec=" + codec + ",threads=" + std::to_string(threads);
    const int times =
        rest.count() > 0 ? 150 : static_cast<int>(std::min<std::size_t>(1500, 300000000 / count));
    const Times taken = measure(times, rest, [&] {
      std::size_t bytes = 0;
      if (TAUT_Encode(values.data(), count, TAUT_FLOAT32, coding.c_str(), frame.data(), frame.size(),
                      &bytes) != TAUT_SUCCESS)
        throw std::runtime_error(TAUT_Last_error());
    });
    std::printf("  %d: %.1f us (quartile %.1f)", threads, taken.least, taken.quartile);
  }
  std::printf("\n");
}

}  // namespace

int main() {
  using namespace std::chrono_literals;
  for (const auto rest : {0ms, 3ms})
    for (const char* const codec : {"planes,predictor=delta", "szx"})
      for (const std::size_t count : {1U << 16, 1U << 18, 1U << 20, 1U << 22})
        measure_frame(codec, count, rest);
  return 0;
}

// Floats that tests send, and their comparison with what plain MPI receives.
#pragma once

#include "mpi/api/world.hpp"

namespace taut::test {

// Value of the memory that nothing is received to.
inline constexpr float untouched = -7777;

// Returns a smooth row of values; `salt` selects its begin.
inline std::vector<float> wave(std::size_t count, int salt) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = std::sin(0.001F * static_cast<float>(i + static_cast<std::size_t>(salt) * 1000));
  return values;
}

// Compares results: within `bound`, and the same bits where nothing is received.
inline void expect_alike(const std::vector<float>& got, const std::vector<float>& want, double bound) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double off = std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i]));
    ASSERT_LE(off, want[i] == untouched ? 0 : bound) << i;
  }
}

}  // namespace taut::test

// The environment of tests: how many cases a long test tries, all or a sample under sanitizers, and whether
// times count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace taut::test {

// Returns n where long tests try one in n of their cases, from the environment: `make test` sets it for
// sanitizers (tools/run_tests.sh).
inline std::uint64_t one_case_in() {
  static const char* const text = std::getenv("TEST_ONE_IN");
  static const std::uint64_t n = text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
  return std::max<std::uint64_t>(n, 1);
}

// Returns true if the next case is in the sample, as the first one is. The sample is the same in every run.
// The golden ratio spreads it over nested loops of any lengths.
inline bool is_sampled() {
  static std::uint64_t cases = 0;
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
  return golden * cases++ <= ~std::uint64_t{0} / one_case_in();
}

// Returns the part of a number of cases that is tried, at least 1.
inline std::uint64_t sampled_part(std::uint64_t cases) {
  return std::max<std::uint64_t>(cases / one_case_in(), 1);
}

// Returns true if TEST_EMULATED is set in the environment, because the processor is emulated: no time that a
// test measures is then that of the work.
inline bool is_emulated() { return std::getenv("TEST_EMULATED") != nullptr; }

}  // namespace taut::test

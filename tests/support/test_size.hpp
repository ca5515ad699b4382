// The environment of tests: how many cases a long test tries, all or a sample under sanitizers, and whether
// times count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace taut::test {

// Returns a number from the environment, for replays: TEST_SEED=7 TEST_COUNT=1 ctest -R name.
inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

// Returns n where long tests try one in n of their cases, from the environment, where `make test` sets it
// (tools/run_tests.sh).
inline std::uint64_t one_case_in() {
  static const std::uint64_t n = std::max<std::uint64_t>(number_from_environment("TEST_ONE_IN", 1), 1);
  return n;
}

// Returns the number of the sample, from the environment: 0 to n - 1.
inline std::uint64_t sample_number() {
  static const std::uint64_t number = number_from_environment("TEST_SAMPLE", 0) % one_case_in();
  return number;
}

// Returns true if the next case is in the sample, as the first one always is. The n samples have all cases
// between them. The golden ratio spreads each over nested loops of any lengths.
inline bool is_sampled() {
  static std::uint64_t cases = 0;
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
  const std::uint64_t place = golden * cases++;
  return place == 0 || one_case_in() == 1 ||
         place / (~std::uint64_t{0} / one_case_in() + 1) == sample_number();
}

// Returns the part of a number of random cases that is tried, at least 1. sample_number() belongs in their
// seed.
inline std::uint64_t sampled_part(std::uint64_t cases) {
  return std::max<std::uint64_t>(cases / one_case_in(), 1);
}

// Returns true if TEST_EMULATED is set in the environment, because the processor is emulated: no time that a
// test measures is then that of the work.
inline bool is_emulated() { return std::getenv("TEST_EMULATED") != nullptr; }

}  // namespace taut::test

// Counters of operator new and delete of this thread, and the point at which allocations begin to fail. For a
// program one of whose files includes support/replace_new.hpp.
#pragma once

#include <cstddef>
#include <limits>

namespace taut::test {

struct Allocations {
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  std::size_t asked = 0, made = 0, given_back = 0;
  std::size_t until_failure = never;  // successes left; 0: every allocation from now on fails
};
inline thread_local Allocations allocations;

}  // namespace taut::test

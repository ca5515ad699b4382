// What operator new and delete of this thread count, and when they fail, in a program one of whose files
// includes support/replace_new.hpp.
#pragma once

#include <cstddef>
#include <limits>

namespace taut::test {

struct Allocations {
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  std::size_t asked = 0, made = 0, given_back = 0;
  std::size_t until_failure = never;  // 0: the next one fails, and every later one
};
inline thread_local Allocations allocations;

}  // namespace taut::test

// Checks a promise of the library in a fuzz target; a broken promise is a finding.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace taut::fuzz {

inline void expect(bool holds, const char* promise) noexcept {
  if (holds) return;
  std::fprintf(stderr, "ERROR: broken promise: %s\n", promise);
  std::abort();
}

}  // namespace taut::fuzz

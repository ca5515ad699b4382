// Promise that remains after a fault in a call.
#pragma once

#include <gtest/gtest.h>

#include "support/group.hpp"

namespace taut::test {

// Expects that every rank without an error holds a correct result, and that some rank reports an error.
inline void expect_honest(const Job& job, const std::vector<CallCounters>& ledgers, double bound,
                          int roundings) {
  bool reported = false;
  for (std::size_t r = 0; r < ledgers.size(); ++r) {
    if (ledgers[r].status != Status::ok) {
      reported = true;
    } else {
      EXPECT_EQ(job.check(static_cast<int>(r), bound, roundings), "");
    }
  }
  EXPECT_TRUE(reported);
}

}  // namespace taut::test

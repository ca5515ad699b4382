// What is left to promise of a call that something went wrong in.
#pragma once

#include <gtest/gtest.h>

#include "support/group.hpp"

namespace taut::test {

// Every rank that does not report an error holds a correct result, and some rank reports one.
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

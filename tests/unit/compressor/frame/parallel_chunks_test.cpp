#include "compressor/frame/parallel_chunks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <vector>

namespace taut {
namespace {

TEST(Parts, EveryChunkIsWorkedOnOnce) {
  for (const int threads : {-1, 0, 1, 2, 3, 64, 1000}) {
    for (const std::size_t chunks : {0u, 1u, 7u, 8u, 16u, 17u, 1000u}) {
      std::vector<std::atomic<int>> seen(chunks);
      const std::size_t parts = useful_threads(threads, chunks);
      for_each_part(parts, chunks, [&](std::size_t part, Range range) {
        EXPECT_LT(part, parts);
        for (std::size_t i = range.first; i < range.first + range.count; ++i) ++seen[i];
      });
      for (const auto& times : seen) ASSERT_EQ(times, 1);
    }
  }
  EXPECT_EQ(useful_threads(8, 15), 1u);  // too little to do
}

TEST(Parts, TheFirstFailureCounts) {
  for (const std::size_t parts : {1u, 2u, 5u}) {
    const auto work = [](Range range) {
      for (std::size_t i = range.first; i < range.first + range.count; ++i) {
        if (i == 60) return Status::corrupt_frame;
        if (i == 90) return Status::frame_mismatch;
      }
      return Status::ok;
    };
    EXPECT_EQ(first_failure(parts, 50, work), Status::ok);
    EXPECT_EQ(first_failure(parts, 100, work), Status::corrupt_frame);
  }
}

// Threads round to nearest, whatever rounding mode the caller had when they started.
TEST(Parts, ThreadsRoundToNearest) {
  const auto rounds_up = [] {
    const volatile float tiny = 1e-9F;
    const volatile float sum = 1 + tiny;
    return sum > 1;
  };
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  const bool before = rounds_up();
  for_each_part(4, 4, [&](std::size_t, Range) { EXPECT_FALSE(rounds_up()); });
  const bool after = rounds_up();
  std::fesetround(FE_TONEAREST);
  EXPECT_TRUE(before && after);
}

}  // namespace
}  // namespace taut

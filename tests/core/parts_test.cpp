#include "core/parts.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace taut {
namespace {

TEST(Parts, EveryChunkIsWorkedOnOnce) {
  for (const int threads : {-1, 0, 1, 2, 3, 64, 1000}) {
    for (const std::size_t chunks : {0u, 1u, 7u, 8u, 16u, 17u, 1000u}) {
      std::vector<std::atomic<int>> seen(chunks);
      const std::size_t parts = parts_of(threads, chunks);
      for_each_part(parts, chunks, [&](std::size_t part, Range range) {
        EXPECT_LT(part, parts);
        for (std::size_t i = range.first; i < range.first + range.count; ++i) ++seen[i];
      });
      for (const auto& times : seen) ASSERT_EQ(times, 1);
    }
  }
  EXPECT_EQ(parts_of(8, 15), 1u);  // too little to do
}

// A record of chunk i is i % 5 bytes of value i.
Encoded write(Range range, Bytes room) {
  std::size_t at = 0;
  for (std::size_t i = range.first; i < range.first + range.count; ++i)
    for (std::size_t k = 0; k < i % 5; ++k) {
      if (at == room.size()) return {false, 0};
      room[at++] = std::byte(i);
    }
  return {true, at};
}

TEST(Parts, RecordsCloseUpWhateverTheNumberOfThreads) {
  constexpr std::size_t chunks = 200;
  for (const std::size_t share :
       {4u, 1u}) {  // enough for each; and too little for some, though not for all together
    std::vector<std::byte> one(chunks * 4), many(chunks * 4);
    const auto encode = [&](std::size_t, Range range, Bytes room) { return write(range, room); };
    std::size_t shifted = 0;
    const Encoded whole =
        encode_in_parts(1, chunks, share, one, encode, [&](Range, std::size_t) { ++shifted; });
    ASSERT_TRUE(whole.fits);
    EXPECT_EQ(shifted, 0u);
    const Encoded joined =
        encode_in_parts(7, chunks, share, many, encode, [&](Range range, std::size_t bytes) {
          std::size_t before = 0;
          for (std::size_t i = 0; i < range.first; ++i) before += i % 5;
          EXPECT_EQ(bytes, before);
          ++shifted;
        });
    EXPECT_TRUE(joined.fits);
    ASSERT_EQ(joined.bytes, whole.bytes);
    EXPECT_TRUE(
        std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(whole.bytes), many.begin()));
  }
  std::vector<std::byte> little(100);
  EXPECT_FALSE(encode_in_parts(
                   7, chunks, 0, little,
                   [](std::size_t, Range range, Bytes room) { return write(range, room); },
                   [](Range, std::size_t) {})
                   .fits);
}

}  // namespace
}  // namespace taut

#include "compressor/frame/chunk_records.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace taut {
namespace {

constexpr std::size_t chunks = 200, most = 16;
using Writer = RecordWriter<most>;

// Writes the record of chunk i: i % 5 words of value i.
Status write(Range range, Writer& writer) {
  for (std::size_t i = range.first; i < range.first + range.count; ++i) {
    std::memset(writer.room(), static_cast<int>(i), most);
    if (!writer.commit(i % 5 * record_unit)) return Status::buffer_too_small;
  }
  return Status::ok;
}

struct Written {
  std::vector<std::byte> ends, bytes;
  SizeOrStatus size;

  Written(std::size_t parts, std::size_t room, std::size_t chunk_bytes)
      : ends(4 * chunks),
        bytes(room),
        size(write_records<Writer>(parts, {ends.data(), bytes, chunks, chunk_bytes}, write)) {
    bytes.resize(size.bytes);
  }
};

TEST(Records, CloseUpWhateverTheNumberOfThreads) {
  const Written one(1, chunks * most, most);
  ASSERT_EQ(one.size.status, Status::ok);
  ASSERT_EQ(one.size.bytes, chunks * 2 * record_unit);
  for (std::size_t i = 0, end = 0; i < chunks; ++i)
    ASSERT_EQ(load<std::uint32_t>(one.ends.data() + 4 * i), end += i % 5);
  for (const std::size_t parts : {2u, 3u, 7u}) {
    for (const std::size_t share : {16u, 8u, 4u, 0u}) {  // enough for each record; for some; for none
      const Written many(parts, chunks * most, share);
      ASSERT_EQ(many.size.status, Status::ok);
      EXPECT_EQ(many.bytes, one.bytes) << parts << " " << share;
      EXPECT_EQ(many.ends, one.ends) << parts << " " << share;
    }
  }
}

// Constant chunks have empty records.
TEST(Records, CloseUpBehindEmptyOnes) {
  const auto late = [](Range range, Writer& writer) {
    for (std::size_t i = range.first; i < range.first + range.count; ++i) {
      std::memset(writer.room(), 7, most);
      if (!writer.commit(i < chunks - 3 ? 0 : record_unit)) return Status::buffer_too_small;
    }
    return Status::ok;
  };
  for (const std::size_t parts : {1u, 2u, 7u}) {
    std::vector<std::byte> ends(4 * chunks), bytes(chunks * most);
    const SizeOrStatus size = write_records<Writer>(parts, {ends.data(), bytes, chunks, most}, late);
    ASSERT_EQ(size.bytes, 3 * record_unit);
    for (std::size_t i = 0; i < size.bytes; ++i) ASSERT_EQ(bytes[i], std::byte{7}) << parts;
    EXPECT_EQ(load<std::uint32_t>(ends.data() + 4 * (chunks - 4)), 0u);
    EXPECT_EQ(load<std::uint32_t>(ends.data() + 4 * (chunks - 1)), 3u);
  }
}

TEST(Records, NothingGoesBeyondTheRoom) {
  const std::size_t bytes = chunks * 2 * record_unit;
  for (const std::size_t parts : {1u, 7u}) {
    EXPECT_EQ(Written(parts, bytes, even_share(bytes, chunks)).size.status, Status::ok);
    EXPECT_EQ(Written(parts, bytes - 4, even_share(bytes - 4, chunks)).size.status, Status::buffer_too_small);
    EXPECT_EQ(Written(parts, 0, 0).size.status, Status::buffer_too_small);
  }
}

}  // namespace
}  // namespace taut

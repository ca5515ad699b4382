#include "communication/team/place.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace taut {
namespace {

TEST(Memory, IsWritableUnlessItsPageIsReadOnly) {
  constexpr std::size_t page = 4096;
  void* const mapped = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const Bytes memory(static_cast<std::byte*>(mapped), page);
  memory[0] = std::byte{7};
  EXPECT_TRUE(is_writable(memory) && is_writable({}));
  mprotect(mapped, page, PROT_READ);
  EXPECT_FALSE(is_writable(memory));
  EXPECT_EQ(memory[0], std::byte{7});
  munmap(mapped, page);
}

TEST(HostPlace, ScratchIsAlignedAndLargeEnough) {
  HostPlace place;
  for (const std::size_t bytes : {0u, 1u, 63u, 4096u, 4097u, 100000u, 12345678u}) {
    const Buffer buffer = place.scratch(bytes);
    EXPECT_GE(buffer.capacity(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
  }
}

TEST(HostPlace, BlocksComeBack) {
  HostPlace place;
  const std::byte* const first = place.scratch(100000).data();
  EXPECT_EQ(place.scratch(99000).data(), first);
  EXPECT_EQ(place.scratch(10).data(), first);
}

TEST(HostPlace, BlocksInUseAreDistinct) {
  HostPlace place;
  place.reserve(5000, 3);
  std::set<const std::byte*> seen;
  Buffer held[5];
  for (Buffer& buffer : held) seen.insert((buffer = place.scratch(5000)).data());
  EXPECT_EQ(seen.size(), 5u);
}

TEST(HostPlace, TheBestFitIsTaken) {
  HostPlace place;
  const std::byte *small, *large;
  {
    const Buffer a = place.scratch(10000), b = place.scratch(1000000);
    small = a.data();
    large = b.data();
  }
  EXPECT_EQ(place.scratch(9000).data(), small);
  EXPECT_EQ(place.scratch(20000).data(), large);
}

TEST(HostPlace, MovedBuffersReturnOnce) {
  HostPlace place;
  Buffer a = place.scratch(5000);
  Buffer b = std::move(a);
  EXPECT_EQ(a.data(), nullptr);
  a = place.scratch(5000);
  const std::byte* const second = a.data();
  b = std::move(a);
  EXPECT_EQ(b.data(), second);
}

// Memory reserved by one user is not given to another one; both get their reserved memory later.
TEST(Reserve, IsForOneUser) {
  HostPlace place;
  std::set<const std::byte*> seen;
  {
    Reserve first(place), second(place);
    first.reserve(5000, 2);
    second.reserve(5000, 2);
    Buffer held[4] = {first.scratch(5000), second.scratch(5000), first.scratch(4000), second.scratch(10)};
    for (const Buffer& buffer : held) seen.insert(buffer.data());
    EXPECT_EQ(seen.size(), 4u);
    EXPECT_TRUE(seen.insert(first.scratch(5000).data()).second);  // more than was reserved
  }
  Reserve again(place);
  again.reserve(5000, 4);
  Buffer held[4];
  for (Buffer& buffer : held) EXPECT_TRUE(seen.contains((buffer = again.scratch(5000)).data()));
}

TEST(Reserve, TakesWhatIsLargeEnough) {
  HostPlace place;
  Reserve reserve(place);
  reserve.reserve(5000, 1);
  reserve.reserve(50000, 1);
  const Buffer large = reserve.scratch(20000), small = reserve.scratch(5000);
  EXPECT_GE(large.capacity(), 50000u);
  EXPECT_LT(small.capacity(), 50000u);
}

// In any order, requests of the reserved sizes get reserved blocks.
TEST(Reserve, KeepsLargeBlocksForLargeRequests) {
  HostPlace place;
  Reserve reserve(place);
  for (const std::size_t bytes : {50000, 500000, 50000, 5000}) reserve.reserve(bytes, 1);
  std::vector<std::size_t> wanted{5000, 50000, 50000, 500000};
  std::set<const std::byte*> seen;
  do {
    std::vector<Buffer> held;
    for (const std::size_t bytes : wanted) {
      seen.insert(held.emplace_back(reserve.scratch(bytes)).data());
      EXPECT_LT(held.back().capacity(), bytes * 5 / 4);
    }
    std::ranges::sort(held, {}, &Buffer::data);
    held.erase(held.begin(), held.begin() + 2);
  } while (std::ranges::next_permutation(wanted).found);
  EXPECT_EQ(seen.size(), 4u);
  const std::byte* const last = reserve.scratch(50000).data();
  EXPECT_EQ(reserve.scratch(50000).data(), last);
}

}  // namespace
}  // namespace taut

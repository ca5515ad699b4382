#include "communication/team/recorder.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace taut {
namespace {

std::vector<std::uint64_t> begins(const Recorder& recorder) {
  std::vector<std::uint64_t> all;
  recorder.for_each([&](const Event& event) { all.push_back(event.begin); });
  return all;
}

TEST(Recorder, KeepsTheLastEventsInTheirOrder) {
  Recorder recorder(4);
  for (std::uint64_t i = 0; i < 3; ++i) recorder.add({.begin = i});
  EXPECT_EQ(begins(recorder), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(recorder.lost(), 0u);
  for (std::uint64_t i = 3; i < 10; ++i) recorder.add({.begin = i});
  EXPECT_EQ(begins(recorder), (std::vector<std::uint64_t>{6, 7, 8, 9}));
  EXPECT_EQ(recorder.lost(), 6u);
}

TEST(Recorder, WithoutRoomAllEventsAreLost) {
  Recorder recorder(0);
  const CallTag tag = recorder.open({});
  tag.add(Phase::encode, 0, 1, 2, 3);
  recorder.close(tag);
  EXPECT_TRUE(begins(recorder).empty());
  EXPECT_EQ(recorder.lost(), 1u);
}

TEST(Recorder, CallsUnderWayAtATimeHaveSlotsOfTheirOwn) {
  Recorder recorder(4);
  const CallTag a = recorder.open({}), b = recorder.open({});
  EXPECT_EQ(a.slot, 0);
  EXPECT_EQ(b.slot, 1);
  recorder.close(a);
  const CallTag c = recorder.open({}), d = recorder.open({});
  EXPECT_EQ(c.slot, 0);
  EXPECT_EQ(d.slot, 2);
  EXPECT_EQ(d.call, 3u);
  for (int i = 0; i < 100; ++i) EXPECT_LE(recorder.open({}).slot, 63);
}

TEST(CallTag, WithoutARecorderNothingHappens) { CallTag{}.add(Phase::encode, 0, 1, 2, 3); }

TEST(PhaseTimes, Add) {
  PhaseTimes a, b;
  a[Phase::encode] = 1;
  b[Phase::encode] = 2;
  b[Phase::call] = 5;
  a += b;
  EXPECT_EQ(a[Phase::encode], 3u);
  EXPECT_EQ(a[Phase::call], 5u);
}

}  // namespace
}  // namespace taut

// Promise: values have a place only where all of them lie in memory of the call that is known now.
#include "communication/team/operand_places.hpp"

#include <gtest/gtest.h>

#include <array>

namespace taut::test {
namespace {

class Places : public testing::Test {
 protected:
  ConstSlice slice(std::size_t first, std::size_t count) const {
    return {{memory.data() + first, count, DType::f32}};
  }

  std::array<float, 100> memory{};
};

TEST_F(Places, CountFromTheFirstByte) {
  const OperandExtent extent(slice(10, 20), 400);
  EXPECT_EQ(extent.place_of(slice(10, 20)), 400u);
  EXPECT_EQ(extent.place_of(slice(15, 15)), 420u);
  EXPECT_EQ(extent.place_of(slice(30, 0)), 480u);
  EXPECT_EQ(extent.place_of(slice(9, 2)), std::nullopt);
  EXPECT_EQ(extent.place_of(slice(29, 2)), std::nullopt);
  EXPECT_EQ(OperandExtent().place_of(slice(0, 1)), std::nullopt);
}

TEST_F(Places, AreThoseOfTheSegmentsUnderWay) {
  OperandPlaces places(400, 200, 2);
  places.set(0, {OperandExtent(slice(0, 20)), OperandExtent(slice(50, 20)), {}});
  places.set(1, {OperandExtent(slice(20, 20), 80), {}, OperandExtent(slice(20, 20), 120)});
  EXPECT_EQ(places.of_sent(slice(5, 10)), 20u);
  EXPECT_EQ(places.of_sent(slice(25, 10)), 100u);
  EXPECT_EQ(places.of_sent(slice(15, 10)), std::nullopt);  // parts of two segments
  EXPECT_EQ(places.of_received(slice(50, 20)), 0u);
  EXPECT_EQ(places.of_received(slice(20, 20)), 120u);
  places.set(0, {});  // the segment is over; others may use its memory
  EXPECT_EQ(places.of_sent(slice(5, 10)), std::nullopt);
  EXPECT_EQ(places.of_received(slice(50, 20)), std::nullopt);
}

// Kept values are never written or read beyond their memory.
TEST_F(Places, AreWithinTheValuesOfTheCall) {
  OperandPlaces places(80, 40, 1);
  places.set(0, {OperandExtent(slice(0, 100)), OperandExtent(slice(0, 100), 20), {}});
  EXPECT_EQ(places.of_sent(slice(0, 20)), 0u);
  EXPECT_EQ(places.of_sent(slice(0, 21)), std::nullopt);
  EXPECT_EQ(places.of_received(slice(0, 5)), 20u);
  EXPECT_EQ(places.of_received(slice(0, 6)), std::nullopt);
}

}  // namespace
}  // namespace taut::test

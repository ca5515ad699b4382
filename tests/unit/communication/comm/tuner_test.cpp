#include "communication/comm/tuner.hpp"

#include <gtest/gtest.h>

namespace taut {
namespace tuner_test {

constexpr std::size_t bytes = std::size_t{1} << 20;

TEST(AutotunerTable, KindsArePartedByCollectiveAndSizeReductionsByTypeAndOperatorToo) {
  AutotunerTable all;
  const Call sum{.collective = Collective::allreduce, .type = DType::f32},
      bcast{.collective = Collective::bcast, .type = DType::f32};
  Call doubles = sum, most = sum, bcast_of_doubles = bcast;
  doubles.type = bcast_of_doubles.type = DType::f64;
  most.op = Reduction::max;
  all.of(sum, bytes).update({.fallback = Fallback::no_gain});
  EXPECT_EQ(all.of(sum, bytes + 1).next(), Fallback::no_gain);
  EXPECT_EQ(all.of(sum, 2 * bytes).next(), Fallback::none);
  EXPECT_EQ(all.of(doubles, bytes).next(), Fallback::none);
  EXPECT_EQ(all.of(most, bytes).next(), Fallback::none);
  EXPECT_EQ(all.of(bcast, ~std::size_t{0}).next(), Fallback::none);
  all.of(bcast, bytes)
      .update({.fallback = Fallback::no_gain});  // ranks may describe the same bytes by different types
  EXPECT_EQ(all.of(bcast_of_doubles, bytes).next(), Fallback::no_gain);
}

TEST(AutotunerTable, MoreKindsThanThereIsRoomForTakeTurns) {
  AutotunerTable all;
  for (int round = 0; round < 3; ++round)
    for (const Collective collective : all_collectives)
      for (int bits = 0; bits < 48; ++bits)
        all.of({.collective = collective}, std::size_t{1} << bits).update({.fallback = Fallback::no_gain});
  all.of({.collective = Collective::scatter}, bytes).update({.fallback = Fallback::no_gain});
  EXPECT_EQ(all.of({.collective = Collective::scatter}, bytes).next(), Fallback::no_gain);
}

}  // namespace tuner_test
}  // namespace taut

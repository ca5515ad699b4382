#include "communication/policy/plan/cost_model.hpp"

#include <gtest/gtest.h>

#include "communication/policy/plan/plan.hpp"

namespace taut {
namespace device_model_test {

constexpr std::size_t MiB = std::size_t{1} << 20;

Plan plan(const char* policy, Collective collective, std::size_t bytes, int ranks, Route route) {
  static std::deque<CandidateTable> tables;  // static: the plan refers to them
  static std::deque<Policy> policies;
  const Policy& asked = policies.emplace_back(parse_policy(policy));
  const Call call{.collective = collective, .type = DType::f32, .bytes = bytes, .ranks = ranks};
  return make_plan(asked, call, asked.coding.bound, tables.emplace_back(), route);
}

constexpr Route on_devices{.on_devices = true};

TEST(DeviceModel, FewLargeOperationsBeatManySmallOnes) {
  for (const double bytes : {1e5, 1e6, 1e7, 1e9})
    EXPECT_LT(device_seconds(1, bytes), device_seconds(8, bytes / 8));
  EXPECT_EQ(device_seconds(1, 1), device_seconds(1, double{device_round_bytes}));
}

TEST(DeviceModel, AllreduceAvoidsOperationsAndThenBytes) {
  EXPECT_STREQ(device_allreduce(MiB, 8), "two_shot");
  EXPECT_STREQ(device_allreduce(25 * MiB, 8), "two_shot");
  EXPECT_STREQ(device_allreduce(1024 * MiB, 8), "ring");  // codes two thirds of the bytes
  EXPECT_STREQ(device_allreduce(MiB, 256), "recursive_doubling");
  EXPECT_STREQ(device_allreduce(1024 * MiB, 64), "two_shot");
}

TEST(DeviceModel, PlansOfCallsOnDevices) {
  constexpr auto allreduce = Collective::allreduce;
  const Plan host = plan("abs:1", allreduce, 128 * MiB, 8, {}),
             device = plan("abs:1", allreduce, 128 * MiB, 8, on_devices);
  EXPECT_STREQ(host.algorithm->name, "ring");
  EXPECT_EQ(host.segments, 16);  // of 1 MiB
  EXPECT_STREQ(device.algorithm->name, "two_shot");
  EXPECT_EQ(device.segments, 4);  // of 4 MiB
  EXPECT_TRUE(device.route().on_devices);
  EXPECT_EQ(device.bound.value, host.bound.value);
  EXPECT_EQ(plan("abs:1", allreduce, 16 * MiB, 8, on_devices).segments, 1);
  EXPECT_EQ(plan("abs:1,segments=5", allreduce, 16 * MiB, 8, on_devices).segments, 5);
  EXPECT_STREQ(plan("abs:1,algorithm=ring", allreduce, MiB, 8, on_devices).algorithm->name, "ring");
}

TEST(DeviceModel, OnlyRoutesThatGiveTheSameBitsAreExchanged) {
  const Call sum{.collective = Collective::allreduce, .type = DType::f32, .bytes = MiB, .ranks = 4};
  const auto same = [&](const char* policy) {
    return gives_same_bits(sum, plan(policy, Collective::allreduce, MiB, 4, {}));
  };
  EXPECT_TRUE(same("abs:1"));
  EXPECT_FALSE(same("abs:1,reduction=values"));
}

}  // namespace device_model_test
}  // namespace taut

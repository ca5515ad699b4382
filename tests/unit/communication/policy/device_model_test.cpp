#include "communication/policy/plan/cost_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "communication/policy/plan/kernel_times.hpp"
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

TEST(KernelTimes, AreThoseOfTheNamedCard) {
  EXPECT_STREQ(kernel_times("NVIDIA H200", 8).card, "H200");
  EXPECT_STREQ(kernel_times("NVIDIA H100 80GB HBM3", 8).card, "H100");
  EXPECT_NE(kernel_times("NVIDIA H200", 8).encode(1e9), kernel_times("NVIDIA H100", 8).encode(1e9));
}

TEST(KernelTimes, OfUnknownCardsAreTheLongest) {
  for (const double ratio : {1.0, 3.36, 4.0, 8.0, 30.0})
    for (const char* unknown : {"", "NVIDIA A100-SXM4-80GB", "H10"}) {
      const KernelTimes slow = kernel_times(unknown, ratio);
      EXPECT_STREQ(slow.card, "");
      for (const char* card : {"H100", "H200"}) {
        const KernelTimes times = kernel_times(card, ratio);
        for (const double bytes : {0.0, 1e6, 1e9}) {
          EXPECT_GE(slow.encode(bytes), times.encode(bytes)) << unknown << ratio;
          EXPECT_GE(slow.decode(bytes), times.decode(bytes)) << unknown << ratio;
          EXPECT_GE(slow.sum(8, bytes), times.sum(8, bytes)) << unknown << ratio;
        }
      }
    }
}

TEST(KernelTimes, AreThoseOfTheRatio) {
  for (const char* card : {"H100", "H200"}) {
    const auto encode = [&](double ratio) { return kernel_times(card, ratio).encode(256e6); };
    EXPECT_EQ(encode(8), encode(1000));
    EXPECT_EQ(encode(1), encode(1.5));
    double before = encode(9);
    for (double ratio = 9; ratio > 1; ratio -= 0.25) {
      EXPECT_GE(encode(ratio), before * (1 - 1e-12)) << ratio;  // more bits take longer
      EXPECT_LE(encode(ratio), before * 1.2) << ratio;          // without a jump
      before = encode(ratio);
    }
    EXPECT_EQ(encode(1), before);
  }
}

TEST(KernelTimes, AreFewMicrosecondsAndMostOfATerabyteASecond) {
  const KernelTimes times = kernel_times("H100", 8);
  for (const KernelTime& one : {times.encode, times.decode, times.decode_add, times.add, times.accumulate}) {
    EXPECT_GT(one(1), 5e-6);
    EXPECT_LT(one(1), 20e-6);
    EXPECT_GT(256e6 / one(256e6), 0.6e12);
  }
  EXPECT_EQ(times.sum(2, 1e6), times.add(1e6));
  EXPECT_LT(times.sum(8, 64e6), 7 * times.add(64e6));
}

TEST(DeviceModel, NodesKeepBytesOffTheirLinks) {
  const DeviceCall flat{.bytes = 616 * MiB, .ranks = 64},
      in_nodes{.bytes = 616 * MiB, .ranks = 64, .nodes = 16};
  EXPECT_STREQ(device_allreduce(flat), "two_shot");
  EXPECT_STREQ(device_allreduce(in_nodes), "halving_doubling");
  for (const std::size_t gpus : {3, 5, 6, 7})  // a fold would send whole messages
    for (std::size_t bytes = MiB / 16; bytes <= 1024 * MiB; bytes *= 4)
      EXPECT_STRNE(device_allreduce({.bytes = bytes, .ranks = 4 * gpus, .nodes = 4}), "halving_doubling");
}

TEST(DeviceModel, LeastSizesOverNcclFollowTheLinks) {
  for (const std::size_t gpus : {2, 4, 8}) {
    const std::size_t nvlink = min_bytes_over_nccl({.ranks = gpus, .nodes = 1});
    EXPECT_GE(nvlink, 64 * MiB) << gpus;
    EXPECT_LE(min_bytes_over_nccl({.ranks = gpus}), 4 * MiB) << gpus;                  // 100 Gbit/s
    EXPECT_LT(min_bytes_over_nccl({.ranks = gpus, .link = 1.25e9}), MiB) << gpus;      // 10 Gbit/s
    EXPECT_LE(min_bytes_over_nccl({.ranks = gpus, .nodes = 1, .bus = 20e9}), nvlink);  // PCIe
  }
  EXPECT_EQ(min_bytes_over_nccl({.ranks = 8, .nodes = 1}), 64 * MiB);  // as docs/nccl.md says
  EXPECT_EQ(min_bytes_over_nccl({.ranks = 8}), 2 * MiB);
  EXPECT_GE(min_bytes_over_nccl({.ranks = 512, .nodes = 64, .link = 400e9}), 64 * MiB);
}

Call over_nccl(int nodes, int gpus, std::size_t bytes, std::string_view card) {
  return {.collective = Collective::allreduce,
          .type = DType::f32,
          .bytes = bytes,
          .ranks = nodes * gpus,
          .nodes = nodes,
          .over_nccl = true,
          .card = card};
}

constexpr const char *h100 = "NVIDIA H100 80GB HBM3", *h100_pcie = "NVIDIA H100 PCIe";

TEST(DeviceModel, CardsTellTheBusOfANode) {
  for (const char* card : {h100, "NVIDIA A100-SXM4-80GB", "NVIDIA H200", "NVIDIA B200"})
    EXPECT_EQ(device_call(over_nccl(1, 8, MiB, card)).bus, nvlink_speed) << card;
  for (const char* card : {h100_pcie, "NVIDIA H200 NVL", "NVIDIA L40S", "a simulated GPU", ""})
    EXPECT_EQ(device_call(over_nccl(1, 8, MiB, card)).bus, pcie_speed) << card;
  const Call call = over_nccl(2, 8, MiB, h100), rail = call_of_algorithm(call, true);
  EXPECT_EQ(device_call(rail).link, device_call(call).link / 8);  // eight rails share the links of a node
}

// The ratio that a call needs falls as its size grows, and is infinite where NVLink is the limit.
TEST(DeviceModel, NvlinkIsTheLimitOfOneNode) {
  for (const int gpus : {2, 4, 8}) {
    double before = HUGE_VAL;
    for (std::size_t bytes = MiB / 16; bytes <= 1024 * MiB; bytes *= 2) {
      const double needed = min_ratio_over_nccl(device_call(over_nccl(1, gpus, bytes, h100)));
      EXPECT_LE(needed, before) << gpus << ", " << bytes;
      before = needed;
    }
    EXPECT_EQ(min_ratio_over_nccl(device_call(over_nccl(1, gpus, MiB, h100))), HUGE_VAL);
  }
  EXPECT_LT(min_ratio_over_nccl(device_call(over_nccl(1, 8, 4 * MiB, h100_pcie))), 4);
  EXPECT_LT(min_ratio_over_nccl(device_call(over_nccl(8, 8, 64 * MiB, h100))), 2);
}

TEST(DeviceModel, PlansOfCallsOverNccl) {
  CandidateTable table;
  const Policy profitable = parse_policy("abs:1,when=profitable"), always = parse_policy("abs:1,when=always"),
               named = parse_policy("abs:1,codec=planes");
  const auto plan = [&](const Policy& policy, const Call& call, Route route = on_devices) {
    return make_plan(policy, call, policy.coding.bound, table, route);
  };
  const Call small = over_nccl(1, 8, MiB, h100), large = over_nccl(1, 8, 1024 * MiB, h100),
             nodes = over_nccl(8, 8, 64 * MiB, h100);
  EXPECT_EQ(plan(profitable, small).fallback, Fallback::no_gain);
  EXPECT_EQ(plan(always, small).fallback, Fallback::none);
  EXPECT_EQ(plan(named, small).fallback, Fallback::none);
  EXPECT_GT(plan(profitable, large).min_ratio, worthwhile_ratio);
  EXPECT_LT(plan(profitable, large).min_ratio, 4);
  EXPECT_EQ(plan(always, large).min_ratio, 0);
  EXPECT_TRUE(plan(profitable, nodes).by_nodes);
  EXPECT_FALSE(plan(always, nodes).by_nodes) << "bits must not depend on nodes";
  EXPECT_FALSE(plan(profitable, nodes, {.by_nodes = false, .on_devices = true}).by_nodes);
  Call over_mpi = nodes;
  over_mpi.over_nccl = false;
  EXPECT_FALSE(plan(profitable, over_mpi).by_nodes);
}

// Frames are shared on nodes of GPUs where the bus is worth more than their operations, and where one message
// has the headers of two frames. A user may ask for it elsewhere, but not where there are histories.
TEST(DeviceModel, FramesAreSharedOnANodeWhereTheySaveTheBus) {
  CandidateTable table;
  const auto shares = [&](const char* text, const Call& call) {
    const Policy policy = parse_policy(text);
    return make_plan(policy, call, policy.coding.bound, table, on_devices).frames_on_node;
  };
  constexpr const char *on = "abs:1,nodes=on,algorithm=halving_doubling",
                       *frames = "abs:1,nodes=frames,algorithm=halving_doubling";
  for (const std::size_t bytes : {64 * MiB, 256 * MiB, 1024 * MiB}) {
    EXPECT_EQ(shares("abs:1,when=profitable", over_nccl(2, 8, bytes, h100)), bytes > 64 * MiB) << bytes;
    EXPECT_TRUE(shares(on, over_nccl(2, 8, bytes, h100)));
    EXPECT_TRUE(shares(on, over_nccl(3, 8, bytes, h100)));
    EXPECT_FALSE(shares(on, over_nccl(8, 8, bytes, h100)));
  }
  EXPECT_FALSE(shares(on, over_nccl(2, 8, 8 * MiB, h100)));
  EXPECT_TRUE(shares(on, over_nccl(2, 8, 8 * MiB, h100_pcie)));
  EXPECT_TRUE(shares(frames, over_nccl(8, 8, MiB, h100)));
  EXPECT_FALSE(shares("abs:1,nodes=on,algorithm=two_shot", over_nccl(2, 8, 64 * MiB, h100)));
  EXPECT_FALSE(shares("abs:1,nodes=frames,history=2,algorithm=halving_doubling", over_nccl(2, 8, MiB, h100)));
  EXPECT_FALSE(shares("abs:1,nodes=off", over_nccl(2, 8, 1024 * MiB, h100)));
  EXPECT_FALSE(shares("lossless,nodes=on,algorithm=halving_doubling", over_nccl(2, 8, 1024 * MiB, h100)));
  Call call = over_nccl(2, 8, 64 * MiB, h100);
  call.over_nccl = false;
  EXPECT_FALSE(shares(on, call));
  call.leaders = 7;
  EXPECT_FALSE(shares(frames, call));
}

TEST(DeviceModel, AllreduceAvoidsOperationsAndThenBytes) {
  EXPECT_STREQ(device_allreduce({.bytes = MiB, .ranks = 8}), "two_shot");
  EXPECT_STREQ(device_allreduce({.bytes = 25 * MiB, .ranks = 8}), "two_shot");
  EXPECT_STREQ(device_allreduce({.bytes = MiB, .ranks = 256}), "recursive_doubling");
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

// GPUs that stand in nodes, against times that can be computed by hand. No GPU was timed here.
#include <gtest/gtest.h>

#include "communication/policy/plan/cost_model.hpp"
#include "scenario.hpp"

namespace simulation {
namespace devices_test {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;
constexpr double nic = 12.5e9, bus = 250e9;  // bytes a second of a node's link, and of a GPU to its node
constexpr double latency = 20e-6, ratio = 8;

Link nodes_of(int nodes, int gpus) {
  Link link{.bytes_a_second = nic, .latency = latency};
  if (gpus > 1)
    link.hosts.of_rank = placed(std::vector<int>(static_cast<std::size_t>(nodes), gpus), Placement::block);
  link.hosts.copy = bus;
  link.hosts.latency = 5e-6;
  return link;
}

CollectiveCall allreduce(int ranks, std::size_t bytes, const std::string& options) {
  CollectiveCall call{.ranks = ranks, .bytes = bytes, .policy = "abs:1,when=always" + options};
  call.costs = {.bits = 32 / ratio,
                .copy = no_time,
                .add_values = no_time,
                .kernels = taut::kernel_times("H100", ratio)};
  return call;
}

double of(const taut::KernelTime& kernel, double bytes) { return taut::seconds_of_launch + kernel(bytes); }

// The ring that a baseline in closed form has (gpus.py): every node's link carries 2 (P-1) / P of the values.
TEST(Devices, APlainRingTakesTheTimeOfTheClosedForm) {
  for (const auto& [nodes, gpus] : {std::pair(16, 1), {16, 4}, {2, 8}}) {
    CollectiveCall ring = allreduce(nodes * gpus, 256 * MiB, "");
    ring.policy.clear();
    ring.algorithm = "ring";
    const double P = ring.ranks, closed = 2 * (P - 1) / P * static_cast<double>(ring.bytes) / nic;
    EXPECT_NEAR(simulate(ring, nodes_of(nodes, gpus)).seconds, closed, 0.1 * closed)
        << nodes << " x " << gpus;
  }
}

// Plain rails: the parts of a node's values cross one link, after and before they cross the bus.
TEST(Devices, PlainCallsByNodesTakeTheTimeOfTheClosedForm) {
  CollectiveCall rails = allreduce(16 * 4, 256 * MiB, "");
  rails.policy.clear();
  rails.algorithm = "ring";
  rails.levels = Levels::by_nodes;
  rails.segments = 16;
  const double closed = 2 * 15 / 16.0 * static_cast<double>(rails.bytes) / nic;
  EXPECT_NEAR(simulate(rails, nodes_of(16, 4)).seconds, closed, 0.1 * closed);
}

// Eight blocks are one operation of kernels, and so is a sum of eight frames.
TEST(Devices, KernelsCodeUpToEightFramesTogether) {
  const double bytes = 64 * MiB;
  const CollectiveCall call = allreduce(8, 64 * MiB, ",algorithm=two_shot,segments=1");
  const taut::KernelTimes kernels = *call.costs.kernels;
  const Outcome outcome = simulate(call, nodes_of(8, 1));
  EXPECT_NEAR(outcome.spent.encode, of(kernels.encode, bytes), 1e-9);
  EXPECT_NEAR(outcome.spent.combine, taut::seconds_of_launch + kernels.sum(8, bytes / 8), 1e-9);
  // The own block is decoded while others are in flight, with up to seven more.
  EXPECT_GE(outcome.spent.decode, of(kernels.decode, bytes) - 1e-9);
  EXPECT_LE(outcome.spent.decode, of(kernels.decode, bytes) + of(kernels.decode, 0) + 1e-9);
  const double wire = 2 * 7 / 8.0 * bytes / ratio / nic, coded = outcome.spent.total();
  EXPECT_GE(outcome.seconds, wire + coded);
  EXPECT_LE(outcome.seconds, 1.4 * (wire + coded));  // messages of several ranks wait for one receiver
}

// In one segment the phases follow each other: sums on the node, frames between nodes, values to the node.
TEST(Devices, ByNodesFramesPassBetweenNodesAlone) {
  const double bytes = 256 * MiB, part = bytes / 4;
  const CollectiveCall call = allreduce(16, 256 * MiB, ",nodes=on,algorithm=two_shot,segments=1");
  const Outcome outcome = simulate(call, nodes_of(4, 4));
  EXPECT_EQ(outcome.planned.levels, Levels::by_nodes);
  const double on_node = 2 * 3 * part / bus, between = 2 * 3 / 4.0 * bytes / ratio / nic;
  const double by_hand = on_node + between + outcome.spent.total();
  EXPECT_NEAR(outcome.seconds, by_hand, 0.1 * by_hand);
  EXPECT_NEAR(outcome.spent.encode, of(call.costs.kernels->encode, part), 1e-9);
  EXPECT_LT(
      simulate(allreduce(16, 256 * MiB, ",nodes=on,algorithm=two_shot,segments=8"), nodes_of(4, 4)).seconds,
      0.9 * outcome.seconds);  // segments overlap
}

// The model of the engine takes an algorithm that is at most 1.5 times as slow as the fastest one.
TEST(Devices, TheEngineChoosesAFastAlgorithm) {
  for (const auto& [nodes, gpus] : {std::pair(8, 1), {32, 1}, {16, 4}, {2, 8}})
    for (const std::size_t bytes : {MiB / 4, 4 * MiB, 64 * MiB}) {
      const Link link = nodes_of(nodes, gpus);
      const auto seconds = [&, ranks = nodes * gpus, bytes = bytes](const char* algorithm) {
        CollectiveCall call = allreduce(ranks, bytes, algorithm);
        call.costs.bits = 8;  // the ratio that the model assumes
        call.costs.kernels = taut::kernel_times("", 4);
        return simulate(call, link).seconds;
      };
      double best = seconds("");
      const double chosen = best;
      for (const char* one : {",algorithm=two_shot", ",algorithm=ring", ",algorithm=halving_doubling",
                              ",algorithm=recursive_doubling"})
        best = std::min(best, seconds(one));
      EXPECT_LE(chosen, 1.5 * best) << nodes << " x " << gpus << ", " << bytes;
    }
}

// Returns the seconds of the fastest allreduce of NCCL, at line rate: closed forms, as in gpus.py.
double nccl_seconds(int nodes, int gpus, double bytes, double link, double nvlink) {
  const double P = nodes * gpus, L = gpus, N = nodes;
  if (nodes == 1) return latency + 2 * (1 - 1 / P) * bytes / nvlink;
  const double ring = 2 * (1 - 1 / P) * bytes / std::min(link, nvlink);
  return latency + std::min(ring, std::max(2 * (1 - 1 / N) * bytes / link, 2 * (1 - 1 / L) * bytes / nvlink));
}

// Nodes of GPUs on NVLink whose NICs together carry `rate` bytes a second.
Link gpus_on_nvlink(int nodes, int gpus, int nics, double rate) {
  Link link = nodes_of(nodes, gpus);
  link.bytes_a_second = rate / nics;
  link.links = nics;
  link.hosts.copy = taut::nvlink_speed;
  link.hosts.latency = 18e-6 / (gpus - 1);
  return link;
}

CollectiveCall of_plan(int ranks, std::size_t bytes, double frame_ratio, const taut::Plan& plan) {
  CollectiveCall call = allreduce(ranks, bytes,
                                  std::string(",algorithm=") + plan.algorithm->name +
                                      ",segments=" + std::to_string(plan.segments) +
                                      (!plan.by_nodes        ? ",nodes=off"
                                       : plan.frames_on_node ? ",nodes=frames"
                                                             : ",nodes=on"));
  call.costs.bits = 32 / frame_ratio;
  call.costs.kernels = taut::kernel_times("H100", frame_ratio);
  return call;
}

// Calls that Taut compresses under when=profitable over NCCL, at a ratio that it finds by samples, are at
// least 0.97 times as fast as the fastest of NCCL: on one node and on several, whose links are as the model
// assumes.
TEST(Devices, WhatTheEngineChoosesOverNcclNeverLoses) {
  static taut::Policy policy = taut::parse_policy("abs:1,when=profitable");
  int chosen = 0, declined = 0;
  for (const auto& [nodes, gpus] : {std::pair(1, 8), {2, 8}, {8, 8}, {16, 4}})
    for (std::size_t bytes = MiB; bytes <= 1024 * MiB; bytes *= 4)
      for (const double frame_ratio : {4.0, 8.0}) {
        const taut::Call call{.collective = taut::Collective::allreduce,
                              .type = taut::DType::f32,
                              .bytes = bytes,
                              .ranks = nodes * gpus,
                              .nodes = nodes,
                              .over_nccl = true,
                              .card = "NVIDIA H100 80GB HBM3"};
        taut::CandidateTable table;
        const taut::Plan plan =
            make_plan(policy, call, policy.coding.bound, table, taut::Route{.on_devices = true});
        if (plan.fallback == taut::Fallback::no_gain || plan.min_ratio > frame_ratio) {
          ++declined;
          continue;
        }
        ++chosen;
        const double seconds =
            simulate(of_plan(call.ranks, bytes, frame_ratio, plan), gpus_on_nvlink(nodes, gpus, 1, nic))
                .seconds;
        EXPECT_GE(nccl_seconds(nodes, gpus, static_cast<double>(bytes), nic, taut::nvlink_speed) / seconds,
                  0.97)
            << nodes << " x " << gpus << ", " << bytes / MiB << " MiB, ratio " << frame_ratio << ": "
            << plan.algorithm->name << (plan.by_nodes ? " by nodes" : " flat");
      }
  EXPECT_GT(chosen, 30);
  EXPECT_GT(declined, 4);
}

// Frames shared on the node take less of the bus. Their exchange has the latency of all exchanges of values.
TEST(Devices, FramesOnTheNodeSaveTheBus) {
  Link link = gpus_on_nvlink(2, 8, 8, 8 * 0.92 * nic);
  link.hosts.frames_latency = 18e-6 - link.hosts.latency;
  const auto seconds = [&](const char* nodes, std::size_t bytes) {
    CollectiveCall call =
        allreduce(16, bytes, std::string(",algorithm=halving_doubling,segments=16,nodes=") + nodes);
    call.costs.bits = 8;
    call.costs.kernels = taut::kernel_times("H100", 4);
    return simulate(call, link).seconds;
  };
  EXPECT_LT(seconds("frames", 1024 * MiB), 0.9 * seconds("on", 1024 * MiB));
  EXPECT_GT(seconds("frames", 4 * MiB), seconds("on", 4 * MiB));  // twice the operations
}

TEST(Devices, AreReadFromAScenario) {
  const Scenario scenario =
      parse_scenario({"ranks=4", "bytes=1M", "bits=8", "card=NVIDIA H200", "host_latency_us=5"});
  ASSERT_TRUE(scenario.call.costs.kernels.has_value());
  EXPECT_STREQ(scenario.call.costs.kernels->card, "H200");
  EXPECT_DOUBLE_EQ(scenario.link.hosts.latency, 5e-6);
  EXPECT_FALSE(parse_scenario({"ranks=4", "bytes=1M"}).call.costs.kernels.has_value());
}

}  // namespace
}  // namespace devices_test
}  // namespace simulation

// Ranks that share hosts, against times that can be computed by hand.
#include <gtest/gtest.h>

#include "halos.hpp"
#include "scenario.hpp"

namespace simulation {
namespace {

constexpr double copy_speed = 4e9;  // bytes a second

Link hosts_of(std::vector<int> ranks_of, Placement placement = Placement::block) {
  Link link{.bytes_a_second = 1e9, .latency = 10e-6, .overhead = 1e-6};
  link.hosts.of_rank = placed(std::move(ranks_of), placement);
  link.hosts.copy = copy_speed;
  return link;
}

CollectiveCall plain_call(taut::Collective collective, const char* algorithm, int ranks, std::size_t bytes,
                          Levels levels = Levels::flat) {
  return {.collective = collective,
          .ranks = ranks,
          .bytes = bytes,
          .policy = "",
          .algorithm = algorithm,
          .levels = levels};
}

TEST(Hosts, ArePlacedInBlocksOrInTurn) {
  EXPECT_EQ(placed({2, 3}, Placement::block), (std::vector<int>{0, 0, 1, 1, 1}));
  EXPECT_EQ(placed({2, 3}, Placement::cyclic), (std::vector<int>{0, 1, 0, 1, 1}));
}

TEST(Hosts, AMessageOnAHostIsACopy) {
  const CollectiveCall call = plain_call(taut::Collective::bcast, "binomial", 2, 4'000'000);
  EXPECT_NEAR(simulate(call, hosts_of({2})).seconds, 1e-3, 5e-6);
}

// A rank copies its four blocks, its own one included, one after the other.
TEST(Hosts, CopiesOfAHostShareItsMemory) {
  const CollectiveCall call = plain_call(taut::Collective::alltoall, "pairwise", 4, 4'000'000);
  Link link = hosts_of({4});
  EXPECT_NEAR(simulate(call, link).seconds, 4e6 / copy_speed, 20e-6);
  link.hosts.memory = 4e9;
  constexpr double traffic = 3;  // bytes that pass the memory for each byte: a write reads the line first
  EXPECT_NEAR(simulate(call, link).seconds, 4 * 4e6 * traffic / 4e9, 0.05e-3);
}

// Each rank of a host packs, sends and unpacks 24 KB, and copies its own blocks and, in the exchange between
// the hosts, those of its host. With caches, packed and collected blocks stay there: values are read and
// written once. A message that comes before its receive is written to memory.
TEST(Hosts, SmallBuffersStayInCaches) {
  constexpr double block = 4000, ranks = 4;
  const CollectiveCall call =
      plain_call(taut::Collective::alltoall, "pairwise", 8, 8 * 4000, Levels::by_nodes);
  Link link = hosts_of({4, 4});
  link.hosts.memory = 0.1e9;
  const double all = ranks * block * (3 * 6 * 3 + 3 * 2 + 3 * 4);
  EXPECT_NEAR(simulate(call, link).seconds, all / link.hosts.memory, 0.1 * all / link.hosts.memory);
  link.hosts.cache = 1 << 20;
  const double least = ranks * block * (6 + 2 + 2 * 4), early = ranks * block * 2 * 6;
  EXPECT_GT(simulate(call, link).seconds, least / link.hosts.memory);
  EXPECT_LT(simulate(call, link).seconds, (least + early) / link.hosts.memory + 0.5e-3);
}

// A block above an eighth of the cache does not stay in it, nor do blocks that fill more than a half
// together.
TEST(CoreCache, HoldsSmallBlocksWhileTheyAreFew) {
  std::vector<std::byte> memory(1000);
  CoreCache cache(800);
  cache.add(memory.data(), 101);
  EXPECT_FALSE(cache.holds(memory.data()));
  for (std::size_t i = 0; i < 4; ++i) cache.add(memory.data() + 100 * i, 100);
  EXPECT_TRUE(cache.holds(memory.data() + 399));
  EXPECT_FALSE(cache.holds(memory.data() + 400));
  cache.add(memory.data() + 400, 100);
  EXPECT_FALSE(cache.holds(memory.data()));
  cache.remove(memory.data() + 400);
  EXPECT_EQ(cache.read(memory.data()), 0);
  EXPECT_EQ(cache.write(memory.data() + 500), 2);
  EXPECT_FALSE(CoreCache().holds(memory.data()));
}

// Blocks of 4 MB, of which one, two and one leave a host in the three steps; then each rank copies its own.
TEST(Hosts, RanksOfAHostShareItsLinks) {
  const CollectiveCall call = plain_call(taut::Collective::alltoall, "pairwise", 4, 16'000'000);
  Link link = hosts_of({2, 2});
  EXPECT_NEAR(simulate(call, link).seconds, 4e-3 + 8e-3 + 4e-3 + 4e6 / copy_speed, 0.1e-3);
  link.links = 2;
  EXPECT_NEAR(simulate(call, link).seconds, 3 * 4e-3 + 4e6 / copy_speed, 0.1e-3);
}

// In each step of a ring one block of 1 MB leaves a host under block placement, and four under cyclic.
TEST(Hosts, ACyclicPlacementLetsEveryMessageOfARingLeaveItsHost) {
  const CollectiveCall call = plain_call(taut::Collective::allgather, "ring", 8, 8'000'000);
  EXPECT_NEAR(simulate(call, hosts_of({4, 4})).seconds, 7e-3, 0.3e-3);
  EXPECT_NEAR(simulate(call, hosts_of({4, 4}, Placement::cyclic)).seconds, 7 * 4e-3, 1e-3);
}

// The engine's rings follow the hosts: one block of each step leaves a host under either placement.
TEST(Hosts, ACyclicPlacementCostsTheEngineNothing) {
  const CollectiveCall call{.collective = taut::Collective::allgather,
                            .ranks = 32,
                            .bytes = 32'000'000,
                            .policy = "abs:1,when=always,algorithm=ring"};
  const Outcome block = simulate(call, hosts_of({8, 8, 8, 8}));
  const Outcome cyclic = simulate(call, hosts_of({8, 8, 8, 8}, Placement::cyclic));
  EXPECT_NEAR(cyclic.link_bytes, block.link_bytes, 0.01 * block.link_bytes);  // the agreement is by ranks
  EXPECT_NEAR(cyclic.seconds, block.seconds, 0.01 * block.seconds);
}

// The root receives one block by the link and two by copies.
TEST(Hosts, MayHaveUnequalNumbersOfRanks) {
  const CollectiveCall call = plain_call(taut::Collective::gather, "linear", 4, 16'000'000);
  EXPECT_NEAR(simulate(call, hosts_of({3, 1})).seconds, 4e-3 + 2 * 4e6 / copy_speed, 0.1e-3);
  EXPECT_NEAR(simulate(call, hosts_of({1, 3})).seconds, 12e-3, 0.1e-3);
}

// A copy to the leader, an exchange among the two leaders by recursive doubling, a copy back.
TEST(Hosts, LeadersServeTheirHosts) {
  const CollectiveCall call =
      plain_call(taut::Collective::allreduce, "recursive_doubling", 4, 4'000'000, Levels::by_leaders);
  EXPECT_NEAR(simulate(call, hosts_of({2, 2})).seconds, 1e-3 + 4e-3 + 1e-3, 0.1e-3);
}

// By nodes each rank exchanges halves on its host, and moves its half between the hosts.
TEST(Hosts, EveryRankLeadsByNodes) {
  CollectiveCall call =
      plain_call(taut::Collective::allreduce, "recursive_doubling", 4, 4'000'000, Levels::by_nodes);
  call.costs.add_values = 1e9;
  EXPECT_NEAR(simulate(call, hosts_of({2, 2})).seconds, 0.5e-3 + 2e-3 + 4e-3 + 0.5e-3, 0.1e-3);
}

// A flat call is no baseline on full hosts: MPIs keep messages on a host where they can. Values pass each
// link once, in segments.
TEST(Hosts, TheBaselineKnowsThem) {
  const CollectiveCall call{.collective = taut::Collective::bcast, .ranks = 32, .bytes = 1'280'000};
  Link link;
  link.hosts.of_rank = placed(std::vector<int>(4, 8), Placement::block);
  const Outcome plain = simulate_plain(call, link);
  EXPECT_NE(plain.planned.levels, Levels::flat);
  EXPECT_LT(plain.seconds, 2 * 1.28e6 / link.bytes_a_second);
}

// Hosts of 2 x 2 x 2 ranks in a grid of 2 x 2 x 2: rank 0 has neighbours on its host and on hosts 4, 2 and 1.
TEST(Hosts, HaveABrickOfTheGridOfRanks) {
  EXPECT_EQ(grid_of(32), (std::array{4, 4, 2}));
  EXPECT_EQ(grid_of(7), (std::array{7, 1, 1}));
  const Link link = hosts_of(std::vector<int>(8, 8));
  const taut::Neighbours of_first = neighbours_of(link.hosts, 64, 0);
  EXPECT_EQ(of_first.to, (std::vector<int>{4, 4 * 8 + 4, 2, 2 * 8 + 2, 1, 1 * 8 + 1}));
  EXPECT_EQ(of_first.from, (std::vector<int>{4 * 8 + 4, 4, 2 * 8 + 2, 2, 1 * 8 + 1, 1}));
}

// Each of the eight ranks of a host sends three of its six faces of 1 MB to other hosts.
TEST(Hosts, HalosShareTheLink) {
  const CollectiveCall call = plain_call(taut::Collective::neighbor_alltoall, "direct", 64, 6'000'000);
  EXPECT_NEAR(simulate(call, hosts_of(std::vector<int>(8, 8))).seconds, 8 * 3 * 1e-3, 3e-3);
}

TEST(Hosts, AreReadFromAScenario) {
  const Scenario scenario =
      parse_scenario({"ranks=5", "bytes=1M", "ranks_a_host=3,2", "placement=cyclic", "links=2"});
  EXPECT_EQ(scenario.link.hosts.of_rank, (std::vector<int>{0, 1, 0, 1, 0}));
  EXPECT_EQ(scenario.link.links, 2);
  EXPECT_THROW(parse_scenario({"ranks=5", "bytes=1M", "ranks_a_host=2"}), std::invalid_argument);
  EXPECT_THROW(parse_scenario({"ranks=4", "bytes=1M", "placement=random"}), std::invalid_argument);
}

}  // namespace
}  // namespace simulation

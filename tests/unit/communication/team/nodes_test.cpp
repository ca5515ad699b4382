#include "communication/team/nodes.hpp"

#include <gtest/gtest.h>

namespace taut::test {
namespace {

std::vector<int> listed(std::span<const int> ranks) { return {ranks.begin(), ranks.end()}; }

TEST(Nodes, RanksInAnyOrder) {
  const std::vector<int> node_of{7, 3, 3, 7, 7, 3};  // nodes are numbered in the order of their names
  const Nodes nodes(node_of);
  ASSERT_TRUE(nodes.several() && nodes.equal());
  EXPECT_EQ(nodes.count(), 2);
  EXPECT_EQ(nodes.leaders(), 3);
  EXPECT_EQ(nodes.same_node(0).size(), 3u);
  EXPECT_EQ(nodes.node(0), 1);
  EXPECT_EQ(nodes.local_rank(3), 1);
  EXPECT_EQ(listed(nodes.same_node(5)), (std::vector{1, 2, 5}));
  EXPECT_EQ(listed(nodes.same_node(0)), (std::vector{0, 3, 4}));
  EXPECT_EQ(listed(nodes.same_local_rank(4)), (std::vector{5, 4}));
  EXPECT_FALSE(nodes.are_consecutive());
  EXPECT_TRUE(Nodes(std::vector{0, 0, 1, 1}).are_consecutive());
  for (int rank = 0; rank < 6; ++rank) EXPECT_EQ(nodes.rank(nodes.node(rank), nodes.local_rank(rank)), rank);
}

TEST(Nodes, TheSmallestNodeTellsTheNumberOfLeaders) {
  const std::vector<int> node_of{1, 0, 1, 1, 0};
  const Nodes nodes(node_of);
  ASSERT_TRUE(nodes.several());
  EXPECT_FALSE(nodes.equal());
  EXPECT_EQ(nodes.leaders(), 2);
  EXPECT_EQ(listed(nodes.same_node(0)), (std::vector{0, 2, 3}));
  EXPECT_EQ(listed(nodes.same_local_rank(0)), (std::vector{1, 0}));
  EXPECT_EQ(listed(nodes.same_local_rank(4)), (std::vector{4, 2}));
  EXPECT_TRUE(nodes.same_local_rank(3).empty());
  EXPECT_EQ(listed(nodes.in_order()), (std::vector{1, 4, 0, 2, 3}));
  EXPECT_EQ(nodes.place_in_order(3), 4);
  EXPECT_EQ(nodes.rank(1, 2), 3);
}

TEST(Nodes, NothingIsGainedByOneNodeOrOneRankOfEach) {
  for (const std::vector<int>& node_of : {std::vector<int>{}, {0}, {1, 1, 1, 1}, {0, 1, 2, 3}})
    EXPECT_FALSE(Nodes(node_of).several());
  EXPECT_FALSE(Nodes().several());
}

}  // namespace
}  // namespace taut::test

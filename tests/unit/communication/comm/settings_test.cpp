#include "communication/comm/settings.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace taut {
namespace {

RankRules policy(const std::string& text) {
  return read_policy([&] { return text; });
}

// Merges the settings of ranks with these policies.
Settings merged(const std::vector<std::string>& policies) {
  Settings all(policy(policies[0]), 0);
  for (const std::string& text : policies) all.merge(Settings(policy(text), 0));
  return all;
}

TEST(Settings, AreTheSameIfAllRanksHaveOnePolicy) {
  const Settings all = merged({"abs:1e-3", "abs:1e-3", "abs:1e-3"});
  EXPECT_TRUE(all.rules.same());
  EXPECT_TRUE(all.node.same());
  EXPECT_EQ(all.readable, 1u);
}

TEST(Settings, DifferIfOneRankDoes) {
  EXPECT_FALSE(merged({"abs:1e-3", "abs:1e-3", "abs:1e-4"}).rules.same());
  EXPECT_FALSE(merged({"abs:1e-4", "abs:1e-3", "abs:1e-3"}).rules.same());
}

TEST(Settings, TellThatOneRankCannotReadItsPolicy) {
  EXPECT_EQ(merged({"abs:1e-3", "abs:nonsense"}).readable, 0u);
  const RankRules unreadable = policy("abs:nonsense");
  ASSERT_TRUE(unreadable.fault);
  EXPECT_EQ(unreadable.fault->status(), Status::invalid_policy);
  EXPECT_TRUE(unreadable.rules.empty());
}

TEST(Settings, KeepTheLeastWords) {
  Settings mine(policy("abs:1e-3"), 0), other = mine;
  mine.mark = 7;
  other.mark = 5;
  other.enabled = 0;
  mine.merge(other);
  EXPECT_EQ(mine.mark, 5u);
  EXPECT_EQ(mine.enabled, 0u);
}

}  // namespace
}  // namespace taut

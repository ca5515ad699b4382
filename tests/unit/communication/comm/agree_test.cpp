#include "communication/comm/agree.hpp"

#include <gtest/gtest.h>

#include "support/group.hpp"

namespace taut::test {
namespace {

AgreementMessage facts_of(int rank) {
  AgreementMessage facts;
  facts.set_signature(7);
  facts.set_type(2);
  facts.measured_low[0] = static_cast<float>(10 + rank);
  return facts;
}

template <class Change>
std::vector<AgreementMessage> agreed(int P, Change change, bool at_once = false) {
  LoopbackHub hub(P, {.seed = static_cast<std::uint64_t>(P), .random_order = true, .at_once = at_once});
  return run_all<AgreementMessage>(hub, [&](int rank) {
    AgreementMessage mine = facts_of(rank);
    change(rank, mine);
    return agree(hub.transport(rank), 5, mine);
  });
}

void expect_extremes_of_all(bool at_once) {
  for (int P = 1; P <= 17; ++P) {
    for (int odd = 0; odd < P; ++odd) {
      const auto odd_one = [&](int rank, AgreementMessage& mine) {
        if (rank != odd) return;
        mine.measured_low[0] = 1.5;
        mine.obstacles = AgreementMessage::short_of_memory;
        mine.type_low = 0;
        mine.frame_low = 3;
        mine.frame_high = 70;
      };
      for (const AgreementMessage& facts : agreed(P, odd_one, at_once)) {
        EXPECT_TRUE(facts.same_signature());
        EXPECT_EQ(facts.measured_low[0], 1.5);
        EXPECT_EQ(facts.obstacles, AgreementMessage::short_of_memory);
        EXPECT_EQ(facts.frame_low, 3);
        EXPECT_EQ(facts.frame_high, 70);
        EXPECT_EQ(facts.type_low, 0);
        EXPECT_EQ(facts.type_high, 2);
      }
    }
  }
}

TEST(Agree, EveryRankLearnsTheExtremesOfAll) { expect_extremes_of_all(false); }

TEST(Agree, EveryRankLearnsThemFromMessagesToAllAtOnce) { expect_extremes_of_all(true); }

TEST(Agree, MessagesToAllAtOnceOfAnotherVersionCannotBeRead) {
  const auto newer = [](int rank, AgreementMessage& mine) { mine.version += rank == 2; };
  for (const AgreementMessage& facts : agreed(5, newer, true)) EXPECT_TRUE(facts.has_unreadable());
}

TEST(Agree, OfPacesTheLeastCountsOrTheMost) {
  for (const bool rooted : {false, true}) {
    const auto all = agreed(5, [&](int rank, AgreementMessage& mine) {
      const auto r = static_cast<float>(rank);
      mine.set_timing({.plain = 1 + r, .coded = 0, .predicted = 10 + r}, rooted);
      mine.set_history_times({.without_history = rank == 3 ? 0 : 2 + r}, rooted);
    });
    for (const AgreementMessage& facts : all) {
      EXPECT_EQ(facts.timing(rooted).plain, rooted ? 5 : 1);
      EXPECT_EQ(facts.timing(rooted).coded, 0);
      EXPECT_EQ(facts.timing(rooted).predicted, 10);
      EXPECT_EQ(facts.history_times(rooted).without_history, rooted ? 6 : 2);
      EXPECT_EQ(facts.history_times(rooted).with_history, 0);
    }
  }
}

TEST(Agree, OneOtherSignatureIsSeenEverywhere) {
  for (int P = 2; P <= 17; ++P) {
    for (const std::uint64_t signature : {std::uint64_t{0}, std::uint64_t{6}, ~std::uint64_t{0}}) {
      for (const AgreementMessage& facts : agreed(P, [&](int rank, AgreementMessage&mine) {
             if (rank == P - 1) mine.set_signature(signature);
           }))
        EXPECT_FALSE(facts.same_signature());
    }
  }
}

TEST(Agree, AnotherVersionIsAMismatch) {
  for (const AgreementMessage& facts : agreed(4, [](int rank, AgreementMessage&mine) {
         if (rank == 2) mine.version = 1;
       }))
    EXPECT_FALSE(facts.same_signature());
}

// Every bit of a message counts; a rank that reads a damaged message agrees to nothing.
TEST(Agree, DamagedMessagesAreSeen) {
  for (std::size_t bit = 0; bit < 8 * sizeof(AgreementMessage); ++bit) {
    LoopbackHub hub(2, {.seed = bit + 1, .random_order = true});
    hub.set_damage([bit](const LoopbackHub::Record& record, std::vector<std::byte>& message) {
      if (record.from == 1) message[bit / 8] ^= std::byte(1 << bit % 8);
    });
    const auto all = run_all<AgreementMessage>(
        hub, [&](int rank) { return agree(hub.transport(rank), 0, facts_of(rank)); });
    EXPECT_FALSE(all[0].same_signature()) << bit;
    EXPECT_TRUE(all[1].same_signature()) << bit;
  }
}

TEST(Agree, TakesLogarithmicallyManyRounds) {
  for (int P = 1; P <= 17; ++P) {
    LoopbackHub hub(P, {.record = true});
    run_all<AgreementMessage>(hub, [&](int rank) { return agree(hub.transport(rank), 0, facts_of(rank)); });
    int rounds = 0;
    while ((1 << rounds) < P) ++rounds;
    EXPECT_EQ(hub.records().size(), static_cast<std::size_t>(P * rounds));
    for (const auto& record : hub.records()) EXPECT_LE(record.step, rounds);
  }
}

TEST(Hash, IsPinned) {
  EXPECT_EQ(hash({}), 0xCBF29CE484222325u);
  const char text[] = "foobar";
  EXPECT_EQ(hash(std::as_bytes(std::span(text, 6))), 0x85944171F73967E8u);
}

}  // namespace
}  // namespace taut::test

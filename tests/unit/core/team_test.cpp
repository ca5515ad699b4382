#include "core/team.hpp"

#include <gtest/gtest.h>

#include "support/group.hpp"

namespace taut::test {
namespace {

class TeamTest : public testing::Test {
 protected:
  TeamTest() : codec(find_codec("raw")->make({})) {}
  Team team(int rank, Lane lane = 0) {
    const auto r = static_cast<std::size_t>(rank);
    return Team(hub.transport(rank), *codec, places[r], ledgers[r], Arithmetic::values, lane);
  }
  void run(Task<> zero, Task<> one) {
    Task<> tasks[] = {std::move(zero), std::move(one)};
    hub.run(tasks);
    for (Task<>& task : tasks) task.result();
  }

  std::unique_ptr<Codec> codec;
  HostPlace places[2];
  CallCounters ledgers[2];
  LoopbackHub hub{2, {.seed = 1, .random_order = true, .record = true}};
};

Task<> send_values(Team team, ConstSlice values) {
  const Frame frame = team.encode(values);
  co_await team.send(frame, 1);
}

Task<> receive_values(Team team, Slice values, std::uint32_t addends = 1) {
  const Frame frame = co_await team.recv(0, values, addends);
  team.decode(frame, values);
}

TEST_F(TeamTest, AFrameArrivesAsItWasSent) {
  const Values in = make_values(DType::f32, 1000, Pattern::noisy, 1);
  Values out(DType::f32, 1000);
  run(send_values(team(0), in.slice()), receive_values(team(1), out.slice()));
  EXPECT_EQ(ledgers[1].status, Status::ok);
  EXPECT_TRUE(in == out);
  EXPECT_EQ(ledgers[0].value_bytes, 4000u);
  EXPECT_EQ(ledgers[0].frame_bytes, 4064u);
}

TEST_F(TeamTest, AFrameOfAnotherTypeCountOrNumberOfAddendsIsRefused) {
  const Values in = make_values(DType::f32, 1000, Pattern::noisy, 1);
  for (const auto& [type, count, addends] :
       {std::tuple{DType::f64, 500, 1}, {DType::f32, 1001, 1}, {DType::f32, 1000, 2}}) {
    Values out(type, static_cast<std::size_t>(count));
    ledgers[1] = {};
    const Team adding(hub.transport(1), *codec, places[1], ledgers[1], Arithmetic::frames, 0);
    run(send_values(team(0), in.slice()),
        receive_values(adding, out.slice(), static_cast<std::uint32_t>(addends)));
    EXPECT_EQ(ledgers[1].status, Status::frame_mismatch);
  }
}

Task<> send_failed(Team team) {
  Frame frame;
  frame.status = Status::out_of_memory;
  frame.count = 1000;
  co_await team.send(frame, 1);
}

TEST_F(TeamTest, AFailedFrameTravelsAsANotice) {
  Values out(DType::f32, 1000);
  run(send_failed(team(0)), receive_values(team(1), out.slice()));
  EXPECT_EQ(ledgers[1].status, Status::peer_failed);
  ASSERT_EQ(hub.records().size(), 1u);
  EXPECT_EQ(hub.records()[0].bytes, frame_header_bytes);
}

TEST_F(TeamTest, WhatIsCombinedWithAFailedFrameFails) {
  Values values = make_values(DType::f32, 10, Pattern::noisy, 1);
  Team t = team(0);
  const Frame good = t.encode(values.slice());
  const Frame bad{{}, 0, Status::peer_failed, 1, DType::f32, 10};
  EXPECT_EQ(t.combine(bad, values.slice(), Reduction::sum).status, Status::peer_failed);
  EXPECT_EQ(t.combine(bad, good, Reduction::sum).status, Status::peer_failed);
  EXPECT_EQ(t.combine(good, bad, Reduction::sum).status, Status::peer_failed);
  EXPECT_EQ(ledgers[0].status, Status::peer_failed);
}

TEST_F(TeamTest, TheLedgerKeepsTheFirstFailure) {
  CallCounters counters;
  counters.note(Status::ok);
  counters.note(Status::corrupt_frame);
  counters.note(Status::peer_failed);
  EXPECT_EQ(counters.status, Status::corrupt_frame);
}

TEST_F(TeamTest, BundlesOpenAtAnyFrame) {
  const Values values = make_values(DType::f32, 20, Pattern::noisy, 1);
  Team t = team(0);
  const FrameBatch batch = t.encode_blocks(values.slice(), 1, 2);  // blocks 1 and 0 of two
  ASSERT_EQ(batch.bytes, 2 * (64 + 40u));
  EXPECT_EQ(batch.frames(0, 2).size(), batch.bytes);
  EXPECT_EQ(batch.frames(1, 1).data(), batch.buffer.data() + 104);
  EXPECT_EQ(batch.frames(2, 1).size(), 0u);
  Values out(DType::f32, 10);
  t.decode(batch, 1, out.slice());
  EXPECT_EQ(ledgers[0].status, Status::ok);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(out.at(i), values.at(i));
}

Task<> send_blocks(Team team, ConstSlice values, int n) {
  const FrameBatch batch = team.encode_blocks(values, 0, n);
  co_await team.send(batch, 0, n, 1);
}

Task<> append_blocks(Team team, ConstSlice own, FrameBatch& blocks, int n) {
  blocks = team.batch(own, n + 1);
  team.encode(own, blocks);
  co_await team.recv(0, blocks, n);
}

// Block sizes differ by one value; received frames are appended to those already in the batch.
TEST_F(TeamTest, ABundleGrowsByWhatComesIn) {
  const Values values = make_values(DType::f32, 23, Pattern::noisy, 1);
  FrameBatch blocks;
  const Team sender = team(0).in_blocks(4);
  Team receiver = team(1).in_blocks(4);
  const ConstSlice own = receiver.chunk(values.slice(), 2);
  run(send_blocks(sender, values.slice(), 4), append_blocks(receiver, own, blocks, 4));
  Values out(DType::f32, 23);
  for (int i = 0; i < 4; ++i) receiver.decode(blocks, i + 1, receiver.chunk(out.slice(), i));
  EXPECT_EQ(ledgers[1].status, Status::ok);
  EXPECT_TRUE(out == values);
  const Frame third = receiver.copy(blocks, 3, own);
  EXPECT_EQ(third.status, Status::ok);
  EXPECT_EQ(third.bytes, blocks.frames(3, 1).size());
}

// A damaged message leaves the messages after it at their places.
TEST_F(TeamTest, ADamagedBundleHasAllItsPlaces) {
  const Values values = make_values(DType::f32, 20, Pattern::noisy, 1);
  const std::size_t frame = 64 + 20, whole = 4 * frame;
  for (const std::size_t left : {std::size_t{0}, std::size_t{10}, frame, 2 * frame + 70, whole + 1}) {
    SCOPED_TRACE(left);
    ledgers[1] = {};
    FrameBatch blocks;
    Team receiver = team(1).in_blocks(4);
    const ConstSlice own = receiver.chunk(values.slice(), 0);
    hub.set_damage([&](const LoopbackHub::Record&, std::vector<std::byte>& bytes) { bytes.resize(left); });
    run(send_blocks(team(0).in_blocks(4), values.slice(), 4), append_blocks(receiver, own, blocks, 4));
    EXPECT_NE(ledgers[1].status, Status::ok);
    EXPECT_EQ(blocks.frames(4, 1).size(), 64u);  // a notice
    EXPECT_EQ(blocks.frames(5, 1).size(), 0u);
    EXPECT_EQ(receiver.copy(blocks, 4, own).status, Status::peer_failed);
    EXPECT_EQ(receiver.copy(blocks, 0, own).status, Status::ok);
  }
}

TEST_F(TeamTest, SeveralFramesCombineAsTwoAtATime) {
  codec = find_codec("planes")->make({.bound = Bound(1e-3)});
  std::vector<Values> values;
  for (std::uint64_t k = 0; k < FrameArithmetic::max_operands; ++k)
    values.push_back(make_values(DType::f64, 5000, Pattern::noisy, k));
  for (const Arithmetic how : {Arithmetic::frames, Arithmetic::values}) {
    for (const Reduction op : {Reduction::sum, Reduction::max}) {
      if (how == Arithmetic::frames && op != Reduction::sum) continue;
      Team t(hub.transport(0), *codec, places[0], ledgers[0], how, 0);
      std::vector<Frame> others;
      Frame first = t.encode(values[0].slice()), pairs = t.encode(values[0].slice());
      for (std::size_t k = 1; k < values.size(); ++k) {
        others.push_back(t.encode(values[k].slice()));
        pairs = t.combine(pairs, others.back(), op);
      }
      const Frame together = t.combine(first, others, op);
      ASSERT_EQ(together.status, Status::ok);
      EXPECT_EQ(together.addends, how == Arithmetic::frames ? values.size() : 1);
      Values one(DType::f64, 5000), two(DType::f64, 5000);
      t.decode(together, one.slice());
      t.decode(pairs, two.slice());
      if (how == Arithmetic::frames || op == Reduction::max) {
        EXPECT_TRUE(one == two);
      }
      for (std::size_t i = 0; i < 5000; ++i) {
        const double exact = static_cast<double>(reduce_exactly(values, i, op).value);
        ASSERT_NEAR(one.at(i), exact, op == Reduction::sum ? 9e-3 : 1e-3);
      }
      others[3].status = Status::corrupt_frame;
      EXPECT_EQ(t.combine(first, others, op).status, Status::corrupt_frame);
      ledgers[0] = {};
    }
  }
}

TEST_F(TeamTest, SegmentsPartEveryBlock) {
  Values values(DType::f32, 100);
  std::size_t covered = 0;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 2; ++i) covered += team(0).segment(k, 3).chunk(values.slice(), i).count;
  EXPECT_EQ(covered, 100u);
  EXPECT_EQ(team(0).chunk(values.slice(), -1).data, team(0).chunk(values.slice(), 1).data);
}

}  // namespace
}  // namespace taut::test

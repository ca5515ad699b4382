#include "communication/team/team.hpp"

#include <gtest/gtest.h>

#include "support/group.hpp"

namespace taut::test {
namespace team_test {

// Returns the result of an operation that is awaited elsewhere.
template <class Operation>
auto completed(Operation&& operation) {
  while (!operation.ready()) continue;
  return operation.result();
}

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
  const Frames frame = co_await team.encode(values);
  co_await team.send(frame, 1);
}

Task<> receive_values(Team team, Slice values) {
  const Frames frame = co_await team.recv(0, values);
  co_await team.decode(frame, values);
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

TEST_F(TeamTest, AFrameOfAnotherTypeOrCountOrOfTooManyAddendsIsRefused) {
  const Values in = make_values(DType::f32, 1000, Pattern::noisy, 1);
  for (const auto& [type, count, addends, how] : {std::tuple{DType::f64, 500, 1u, Arithmetic::frames},
                                                  {DType::f32, 1001, 1u, Arithmetic::frames},
                                                  {DType::f32, 1000, 3u, Arithmetic::frames},
                                                  {DType::f32, 1000, 2u, Arithmetic::values}}) {
    Values out(type, static_cast<std::size_t>(count));
    ledgers[1] = {};
    hub.set_damage([&](const LoopbackHub::Record&, std::vector<std::byte>& bytes) {
      FrameHeader header;
      ASSERT_EQ(read_header(bytes, header), Status::ok);
      header.addends = addends;
      write_header(header, bytes);
    });
    const Team adding(hub.transport(1), *codec, places[1], ledgers[1], how, 0);
    run(send_values(team(0), in.slice()), receive_values(adding, out.slice()));
    EXPECT_EQ(ledgers[1].status, Status::frame_mismatch);
  }
}

Task<> send_failed(Team team) {
  Frames frame;
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

Status status_of(const Frames& frame, std::size_t count) {
  return inspect(frame.part(0, 1), frame.type, count, 1);
}

TEST_F(TeamTest, WhatIsCombinedWithAFailedFrameFails) {
  Values values = make_values(DType::f32, 10, Pattern::noisy, 1);
  Team t = team(0);
  const Frames good = completed(t.encode(values.slice())),
               bad = completed(t.encode(values.slice(), Status::out_of_memory));
  EXPECT_EQ(status_of(completed(t.combine(good, good, Reduction::sum)), 10), Status::ok);
  EXPECT_EQ(status_of(completed(t.combine(bad, values.slice(), Reduction::sum)), 10), Status::peer_failed);
  EXPECT_EQ(status_of(completed(t.combine(bad, good, Reduction::sum)), 10), Status::peer_failed);
  EXPECT_EQ(status_of(completed(t.combine(good, bad, Reduction::sum)), 10), Status::peer_failed);
  EXPECT_EQ(ledgers[0].status, Status::out_of_memory);
}

TEST_F(TeamTest, TheLedgerKeepsTheFirstFailure) {
  CallCounters counters;
  counters.note(Status::ok);
  counters.note(Status::corrupt_frame);
  counters.note(Status::peer_failed);
  EXPECT_EQ(counters.status, Status::corrupt_frame);
}

TEST_F(TeamTest, FramesOpenAtAnyPlace) {
  const Values values = make_values(DType::f32, 20, Pattern::noisy, 1);
  Team t = team(0);
  const Frames frames = completed(t.encode(values.slice(), 1, 2));  // blocks 1 and 0 of two
  ASSERT_EQ(frames.bytes, 2 * (64 + 40u));
  EXPECT_EQ(frames.part(0, 2).size(), frames.bytes);
  EXPECT_EQ(frames.part(1, 1).data(), frames.buffer.data() + 104);
  EXPECT_EQ(frames.part(2, 1).size(), 0u);
  Values out(DType::f32, 10);
  completed(t.decode(frames, 1, out.slice()));
  EXPECT_EQ(ledgers[0].status, Status::ok);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(out.at(i), values.at(i));
}

Task<> send_blocks(Team team, ConstSlice values, int n) {
  const Frames frames = co_await team.encode(values, 0, n);
  co_await team.send(frames, 0, n, 1);
}

Task<> append_blocks(Team team, ConstSlice own, Frames& blocks, int n) {
  blocks = team.empty(own, n + 1);
  co_await team.encode(own, blocks);
  co_await team.recv(0, blocks, n);
}

// Block sizes differ by one value; received frames are appended to those already in the frames.
TEST_F(TeamTest, FramesGrowByWhatComesIn) {
  const Values values = make_values(DType::f32, 23, Pattern::noisy, 1);
  Frames blocks;
  const Team sender = team(0).in_blocks(4);
  Team receiver = team(1).in_blocks(4);
  const ConstSlice own = receiver.chunk(values.slice(), 2);
  run(send_blocks(sender, values.slice(), 4), append_blocks(receiver, own, blocks, 4));
  Values out(DType::f32, 23);
  for (int i = 0; i < 4; ++i) completed(receiver.decode(blocks, i + 1, receiver.chunk(out.slice(), i)));
  EXPECT_EQ(ledgers[1].status, Status::ok);
  EXPECT_TRUE(out == values);
  Frames third = receiver.empty(own, 1);
  receiver.copy(blocks, 3, third);
  EXPECT_EQ(status_of(third, own.count), Status::ok);
  EXPECT_EQ(third.bytes, blocks.part(3, 1).size());
}

// A damaged message leaves the messages after it at their places.
TEST_F(TeamTest, DamagedFramesHaveAllTheirPlaces) {
  const Values values = make_values(DType::f32, 20, Pattern::noisy, 1);
  const std::size_t frame = 64 + 20, whole = 4 * frame;
  for (const std::size_t left : {std::size_t{0}, std::size_t{10}, frame, 2 * frame + 70, whole + 1}) {
    SCOPED_TRACE(left);
    ledgers[1] = {};
    Frames blocks;
    Team receiver = team(1).in_blocks(4);
    const ConstSlice own = receiver.chunk(values.slice(), 0);
    hub.set_damage([&](const LoopbackHub::Record&, std::vector<std::byte>& bytes) { bytes.resize(left); });
    run(send_blocks(team(0).in_blocks(4), values.slice(), 4), append_blocks(receiver, own, blocks, 4));
    EXPECT_NE(ledgers[1].status, Status::ok);
    EXPECT_EQ(blocks.part(4, 1).size(), 64u);  // an error frame
    EXPECT_EQ(blocks.part(5, 1).size(), 0u);
    EXPECT_EQ(inspect(blocks.part(4, 1), own.type, own.count, 1), Status::peer_failed);
    EXPECT_EQ(inspect(blocks.part(0, 1), own.type, own.count, 1), Status::ok);
  }
}

TEST_F(TeamTest, SeveralFramesCombineAsTwoAtATime) {
  codec = find_codec("planes")->make({.bound = Bound(1e-3)});
  LoopbackHub eight(8, {});
  std::vector<Values> values;
  for (std::uint64_t k = 0; k < FrameArithmetic::max_operands; ++k)
    values.push_back(make_values(DType::f64, 5000, Pattern::noisy, k));
  for (const Arithmetic how : {Arithmetic::frames, Arithmetic::values}) {
    for (const Reduction op : {Reduction::sum, Reduction::max}) {
      if (how == Arithmetic::frames && op != Reduction::sum) continue;
      Team t(eight.transport(0), *codec, places[0], ledgers[0], how, 0);
      std::vector<Frames> others;
      Frames first = completed(t.encode(values[0].slice())), pairs = completed(t.encode(values[0].slice()));
      for (std::size_t k = 1; k < values.size(); ++k) {
        others.push_back(completed(t.encode(values[k].slice())));
        pairs = completed(t.combine(pairs, others.back(), op));
      }
      const Frames together = completed(t.combine(first, others, op));
      FrameHeader header;
      ASSERT_EQ(read_header(together.part(0, 1), header), Status::ok);
      EXPECT_EQ(header.addends, how == Arithmetic::frames ? values.size() : 1);
      Values one(DType::f64, 5000), two(DType::f64, 5000);
      completed(t.decode(together, one.slice()));
      completed(t.decode(pairs, two.slice()));
      if (how == Arithmetic::frames || op == Reduction::max) {
        EXPECT_TRUE(one == two);
      }
      for (std::size_t i = 0; i < 5000; ++i) {
        const double exact = static_cast<double>(reduce_exactly(values, i, op).value);
        ASSERT_NEAR(one.at(i), exact, op == Reduction::sum ? 9e-3 : 1e-3);
      }
      others[3].buffer.data()[0] ^= std::byte{1};
      EXPECT_EQ(ledgers[0].status, Status::ok);
      const Frames failed = completed(t.combine(first, others, op));
      EXPECT_EQ(read_header(failed.part(0, 1), header), Status::ok);
      EXPECT_TRUE(header.has(FrameHeader::failed));
      EXPECT_EQ(ledgers[0].status, Status::corrupt_frame);
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

}  // namespace team_test
}  // namespace taut::test

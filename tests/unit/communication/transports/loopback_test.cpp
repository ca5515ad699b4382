#include "support/loopback.hpp"

#include <gtest/gtest.h>

#include "support/group.hpp"

namespace taut::test {
namespace {

Task<> receive_from(Transport& transport, int from) {
  std::byte bytes[8];
  Pending receiving = transport.recv(bytes, from, 3);
  co_await receiving;
}

// Receives a byte from each neighbour, twice.
Task<> twice_around(Transport& transport) {
  const int right = (transport.rank() + 1) % transport.size();
  const int left = (transport.rank() + transport.size() - 1) % transport.size();
  for (int i = 0; i < 2; ++i) {
    std::byte in[1], out[1] = {};
    Pending receiving = transport.recv(in, left, 0);
    Pending sending = transport.send(out, right, 0);
    co_await receiving;
    co_await sending;
  }
}

TEST(Loopback, ADeadlockIsReportedWithTheWaitingOperations) {
  LoopbackHub hub(2);
  Task<> tasks[] = {receive_from(hub.transport(0), 1), receive_from(hub.transport(1), 0)};
  try {
    hub.run(tasks);
    FAIL() << "no deadlock seen";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::internal);
    EXPECT_NE(std::string(error.what()).find("rank 0 receives from 1 on lane 3"), std::string::npos)
        << error.what();
  }
}

TEST(Loopback, ASendThatNobodyReceivesIsADeadlockWhenItIsNotEager) {
  bool seen = false;
  for (std::uint64_t seed = 1; seed < 20 && !seen; ++seed) {
    LoopbackHub hub(2, {.seed = seed, .random_order = true});
    auto body = [](Transport& transport) -> Task<> {
      const std::byte bytes[8] = {};
      Pending sending = transport.send(bytes, 1, 0);
      co_await sending;
    };
    Task<> tasks[] = {body(hub.transport(0))};
    try {
      hub.run(tasks);
    } catch (const Error&) {
      seen = true;
    }
  }
  EXPECT_TRUE(seen);
}

// A dead rank blocks both the ranks that wait for it and those that wait for others.
TEST(Loopback, ADeadRankEndsTheJob) {
  for (const bool threads : {false, true}) {
    LoopbackHub hub(3);
    hub.kill(0, 1);
    const auto rank = [&hub](int me) -> Task<> {
      co_await twice_around(hub.transport(me));
      ADD_FAILURE() << "rank " << me << " went on";
    };
    Task<> tasks[] = {rank(0), rank(1), rank(2)};
    threads ? hub.run_threads(tasks) : hub.run(tasks);
    EXPECT_TRUE(hub.ended());
    for (Task<>& task : tasks) {
      try {
        task.result();
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::transport_failed);
        EXPECT_STREQ(error.what(), "rank 0 is dead");
      }
    }
  }
}

TEST(Loopback, TheSameSeedGivesTheSameSchedule) {
  auto records = [](std::uint64_t seed) {
    LoopbackHub hub(5, {.seed = seed, .random_order = true, .record = true});
    const auto codec = find_codec("raw")->make({});
    Job job(Collective::allreduce, 5, 100, DType::f32, Pattern::smooth, 1);
    run_algorithm(hub, *find_algorithm(Collective::allreduce, "ring"), *codec, Arithmetic::values, 2, job);
    std::string text;
    for (const auto& r : hub.records()) text += std::to_string(r.from) + ">" + std::to_string(r.to) + " ";
    return text;
  };
  EXPECT_EQ(records(1), records(1));
  EXPECT_NE(records(1), records(2));
}

TEST(Loopback, ABufferThatChangesWhileItIsSentIsReported) {
  bool seen = false;
  for (std::uint64_t seed = 1; seed < 20 && !seen; ++seed) {
    LoopbackHub hub(2, {.seed = seed, .random_order = true});
    auto sender = [](Transport& transport) -> Task<> {
      std::byte bytes[8] = {};
      Pending sending = transport.send(bytes, 1, 3);
      bytes[0] = std::byte{1};
      co_await sending;
    };
    Task<> tasks[] = {sender(hub.transport(0)), receive_from(hub.transport(1), 0)};
    hub.run(tasks);
    try {
      for (Task<>& task : tasks) task.result();
    } catch (const Error&) {
      seen = true;
    }
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace taut::test

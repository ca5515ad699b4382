#include "transports/loopback.hpp"

#include <gtest/gtest.h>

#include "support/group.hpp"

namespace taut::test {
namespace {

Task<> receive_from(Transport& transport, int from) {
  std::byte bytes[8];
  Pending receiving = transport.recv(bytes, from, 3);
  co_await receiving;
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

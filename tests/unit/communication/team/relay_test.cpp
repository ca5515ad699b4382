// Tests of frames that are forwarded in packets: of every algorithm that forwards them, on loopback with
// random schedules.
#include "communication/team/relay.hpp"

#include <gtest/gtest.h>

#include "support/damage.hpp"
#include "support/group.hpp"
#include "support/honest.hpp"
#include "support/places.hpp"

namespace taut::test {
namespace relay_test {

constexpr double bound = 1e-3;
constexpr std::size_t packets[] = {64, 100, 256, 1000, 1 << 20};

struct Forwarding {
  Collective collective;
  const char* name;
};
class Relays : public testing::TestWithParam<Forwarding> {
 protected:
  const AlgorithmInfo& algorithm = *find_algorithm(GetParam().collective, GetParam().name);
  const std::unique_ptr<Codec> codec = find_codec("planes")->make({.bound = bound, .checksum = true});

  Job job(int P, std::size_t count, bool in_place = false) const {
    return Job(algorithm.collective, P, count, DType::f32, Pattern::noisy, 7, Reduction::sum, P / 2,
               in_place);
  }

  // Makes the task of one rank.
  Task<> task(Transport& transport, Place& place, CallCounters& counters, Job& job, std::size_t packet,
              int segments = 1) const {
    const Team team(transport, *codec, place, counters, Arithmetic::values, 0);
    Operands data = job.operands(transport.rank());
    leave_input(algorithm.collective, data, transport.rank(), transport.size());
    return pipelined(algorithm, team.in_packets(packet), data, segments);
  }

  std::vector<CallCounters> run(LoopbackHub& hub, Job& job, std::size_t packet, int segments = 1,
                                const std::function<Place&(int)>& place_of = nullptr) const {
    const auto P = static_cast<std::size_t>(hub.size());
    std::vector<CallCounters> counters(P);
    std::vector<HostPlace> places(P);
    std::vector<Task<>> tasks;
    for (std::size_t r = 0; r < P; ++r) {
      Place& place = place_of ? place_of(static_cast<int>(r)) : places[r];
      tasks.push_back(task(hub.transport(static_cast<int>(r)), place, counters[r], job, packet, segments));
    }
    hub.run(tasks);
    for (Task<>& one : tasks) one.result();
    return counters;
  }
};

TEST_P(Relays, GiveTheBitsOfWholeFrames) {
  std::uint64_t seed = 0;
  for (const int P : {1, 2, 3, 5, 8})
    for (const std::size_t count : {0, 1, 600, 5003})
      for (const bool in_place : {false, true})
        for (const int segments : {1, 3}) {
          Job whole = job(P, count, in_place);
          LoopbackHub of_whole(P);
          run(of_whole, whole, 0, segments);
          for (const std::size_t packet : packets) {
            SCOPED_TRACE(testing::Message() << P << " ranks, " << count << " values, packets of " << packet);
            Job parts = job(P, count, in_place);
            LoopbackHub hub(P, {.seed = ++seed, .random_order = true});
            for (const CallCounters& counters : run(hub, parts, packet, segments))
              ASSERT_EQ(counters.status, Status::ok) << describe(counters.status);
            for (std::size_t r = 0; r < parts.outputs.size(); ++r)
              ASSERT_TRUE(parts.outputs[r] == whole.outputs[r]) << "rank " << r;
            ASSERT_TRUE(parts.inputs_stayed());
          }
        }
}

// The messages of a call in packets and in whole frames: as many bytes, and no packet is larger than it may
// be.
TEST_P(Relays, SendTheSameBytesInPackets) {
  constexpr int P = 4;
  Job whole = job(P, 8000), parts = job(P, 8000);
  LoopbackHub of_whole(P, {.record = true}), hub(P, {.record = true});
  run(of_whole, whole, 0);
  run(hub, parts, 1000);
  const auto bytes_of = [](const LoopbackHub& of) {
    std::size_t sum = 0;
    for (const LoopbackHub::Record& message : of.records()) sum += message.bytes;
    return sum;
  };
  EXPECT_EQ(bytes_of(hub), bytes_of(of_whole));
  EXPECT_GT(hub.records().size(), of_whole.records().size());
}

// Damage that leaves the number of messages to a header or a short packet. MPI delivers messages whole.
TEST_P(Relays, ReportDamagedPackets) {
  constexpr int P = 4;
  for (const std::size_t packet : {200, 1000}) {
    Job sound = job(P, 2000);
    LoopbackHub of_sound(P, {.record = true});
    run(of_sound, sound, packet);
    const std::size_t messages = of_sound.records().size();
    for (const Damage& damage : damages) {
      const std::string_view name = damage.name;
      if (!name.ends_with("flipped") && name != "all zero" && name != "noise") continue;
      for (std::size_t victim = 0; victim < messages; ++victim) {
        SCOPED_TRACE(testing::Message() << packet << " message " << victim << " " << damage.name);
        Job one = job(P, 2000);
        LoopbackHub hub(P, {.seed = victim + 1, .random_order = true});
        std::size_t n = 0;
        bool changed = false;
        hub.set_damage([&](const LoopbackHub::Record&, Message& bytes) {
          if (n++ != victim || bytes.size() < 16) return;
          const Message before = bytes;
          damage.apply(bytes);
          changed = bytes != before;
        });
        const std::vector<CallCounters> counters = run(hub, one, packet);
        if (changed) expect_honest(one, counters, bound * P * P, 2 * P);
      }
    }
  }
}

TEST_P(Relays, ReportMissingMemory) {
  constexpr int P = 4;
  for (int victim = 0; victim < P; ++victim)
    for (int fails_at = 0;; ++fails_at) {
      SCOPED_TRACE(testing::Message() << "rank " << victim << " request " << fails_at);
      Job one = job(P, 4000);
      std::vector<std::unique_ptr<ShortPlace>> places;
      for (int r = 0; r < P; ++r) places.push_back(std::make_unique<ShortPlace>(r == victim ? fails_at : -1));
      LoopbackHub hub(P, {.seed = static_cast<std::uint64_t>(fails_at) + 1, .random_order = true});
      const auto place_of = [&](int r) -> Place& { return *places[static_cast<std::size_t>(r)]; };
      const std::vector<CallCounters> counters = run(hub, one, 500, 1, place_of);
      if (places[static_cast<std::size_t>(victim)]->requests <= fails_at) break;
      EXPECT_EQ(counters[static_cast<std::size_t>(victim)].status, Status::out_of_memory);
      expect_honest(one, counters, bound * P * P, 2 * P);
    }
}

TEST_P(Relays, EndOnEveryRankWhenARankDies) {
  constexpr int P = 4;
  for (std::uint64_t operations = 0; operations < 60; operations += 3) {
    Job one = job(P, 4000);
    LoopbackHub hub(P, {.seed = operations + 1, .random_order = true});
    hub.kill(P / 2, operations);
    std::vector<CallCounters> counters(P);
    std::vector<HostPlace> places(P);
    std::vector<Task<>> tasks;
    for (std::size_t r = 0; r < P; ++r)
      tasks.push_back(task(hub.transport(static_cast<int>(r)), places[r], counters[r], one, 500));
    hub.run(tasks);
    for (Task<>& each : tasks) {
      EXPECT_TRUE(each.done());
      if (!hub.ended()) continue;
      try {
        each.result();  // a rank may have completed before
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::transport_failed);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Relays,
                         testing::Values(Forwarding{Collective::bcast, "chain"},
                                         Forwarding{Collective::bcast, "scatter_allgather"},
                                         Forwarding{Collective::allgather, "ring"},
                                         Forwarding{Collective::allreduce, "ring"}),
                         [](const auto& test) {
                           return std::string(name_of(test.param.collective)) + "_" + test.param.name;
                         });

// Blocks of any size in one ring: some in packets, some whole, some empty.
TEST(RelayOfUnequalBlocks, KeepsEveryBlock) {
  constexpr int P = 5;
  const std::vector<std::size_t> counts{3000, 0, 1, 70, 9000};
  BlockLayout layout{counts, {0, 3000, 3000, 3001, 3071}};
  const std::unique_ptr<Codec> codec = find_codec("planes")->make({.bound = bound});
  const AlgorithmInfo& ring = *find_algorithm(Collective::allgather, "ring");
  const Values all = make_values(DType::f32, 12071, Pattern::noisy, 3);
  for (const std::size_t packet : packets) {
    std::vector<Values> outputs(P, Values(DType::f32, 12071));
    std::vector<HostPlace> places(P);
    std::vector<CallCounters> counters(P);
    std::vector<Task<>> tasks;
    LoopbackHub hub(P, {.seed = packet, .random_order = true});
    for (std::size_t r = 0; r < P; ++r) {
      const Team team(hub.transport(static_cast<int>(r)), *codec, places[r], counters[r], Arithmetic::values,
                      0);
      const ConstSlice own{all.slice().part(static_cast<std::size_t>(layout.offsets[r]), counts[r])};
      tasks.push_back(
          pipelined(ring, team.in_packets(packet), {.in = own, .out = {outputs[r].slice(), &layout}}, 2));
    }
    hub.run(tasks);
    for (std::size_t r = 0; r < P; ++r) {
      tasks[r].result();
      EXPECT_EQ(counters[r].status, Status::ok);
      for (std::size_t i = 0; i < 12071; ++i) ASSERT_NEAR(outputs[r].at(i), all.at(i), 1.001 * bound);
    }
  }
}

}  // namespace relay_test
}  // namespace taut::test

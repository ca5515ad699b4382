// Tests calls whose frames have a fixed size: their results need no settle, graphs can hold them, and what
// was not decoded is told later.
#include "gpu/nccl/graphs.hpp"

#include <atomic>
#include <cstring>
#include <list>

#include "compressor/base/options.hpp"

namespace taut::test {
namespace graphs_test {

constexpr int mismatch = static_cast<int>(Status::frame_mismatch),
              wrong = static_cast<int>(Status::invalid_argument);

TEST(NcclGraphs, SumsWithAResidualHaveTheBitsOfDirectCalls) {
  for (const int P : {1, 2, 3, 4})
    for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter})
      for (const bool in_place : {false, true}) {
        const Repeated repeated{.collective = collective,
                                .policy = in_place ? "block:4" : "block:6",
                                .P = P,
                                .op = P == 3 ? ncclAvg : ncclSum,
                                .with_residual = true,
                                .in_place = in_place};
        expect_bits_of_direct_calls<float>(repeated);
        expect_bits_of_direct_calls<bf16>(repeated, 10);
      }
}

TEST(NcclGraphs, CallsInSlotsHaveTheBitsOfDirectCalls) {
  for (const Collective collective :
       {Collective::allreduce, Collective::reduce_scatter, Collective::allgather, Collective::bcast})
    for (const bool in_place : {false, true}) {
      expect_bits_of_direct_calls<float>({.collective = collective, .count = 840, .in_place = in_place}, 20);
      expect_bits_of_direct_calls<f16>(
          {.collective = collective, .policy = "block:4", .P = 4, .in_place = in_place}, 10);
    }
  for (const int op : {ncclAvg, ncclMin, ncclMax}) expect_bits_of_direct_calls<float>({.P = 2, .op = op}, 10);
}

// By nodes of as many GPUs as ctest sets in TAUT_RANKS_PER_NODE (CMakeLists.txt); skipped without.
TEST(NcclByNodesGraphs, HaveTheBitsOfDirectCalls) {
  const int L = options().ranks_per_node;
  if (L == 0) GTEST_SKIP() << "TAUT_RANKS_PER_NODE is not set";
  const int steps = L <= 2 ? 50 : 6;
  for (int N = 1; N <= 3; ++N)
    for (const bool in_place : {false, true}) {
      const Repeated sum{.policy = "block:6,nodes=on",
                         .P = N * L,
                         .count = in_place ? 97u : 840u,
                         .with_residual = true,
                         .in_place = in_place};
      Repeated scattered = sum, gathered = sum, moved = sum;
      scattered.collective = Collective::reduce_scatter;
      gathered.collective = Collective::allgather;
      moved.collective = Collective::bcast;
      gathered.with_residual = moved.with_residual = false;
      for (const Repeated& repeated : {sum, scattered, gathered, moved})
        expect_bits_of_direct_calls<float>(repeated, steps);
    }
}

// One thread captures and launches the calls of both ranks: one that waited would hang.
TEST(NcclGraphs, TheHostWaitsForNothing) {
  RepeatedCalls<float> calls({.P = 2, .count = 9000, .with_residual = true});
  const auto on_both = [&](auto action) {
    for (int r = 0; r < 2; ++r) action(calls.ranks()[r]);
  };
  const auto call = [&](const NcclRank& me) { EXPECT_EQ(calls.call(me), 0) << TAUT_Nccl_last_error(); };
  on_both(call);
  stand_in_finish();
  std::vector<std::unique_ptr<Graph>> graphs;
  const unsigned long waits = stand_in_waits(), memories = stand_in_memories();
  on_both([&](const NcclRank& me) { graphs.push_back(calls.captured(me)); });
  EXPECT_GT(stand_in_memories(), memories) << "a graph has memory of its own";
  for (int turn = 0; turn < 3; ++turn) {
    on_both([&](const NcclRank& me) {
      EXPECT_EQ(graphs[static_cast<std::size_t>(me.rank)]->launch(me.stream), cudaSuccess);
    });
    on_both(call);
  }
  EXPECT_EQ(stand_in_waits(), waits);
  stand_in_finish();
}

// Direct calls and graphs do not share memory, and a graph launched in another stream works as well.
TEST(NcclGraphs, RunBesideDirectCalls) {
  RepeatedCalls<float> calls({.P = 2, .count = 9000}), wanted({.P = 2, .count = 9000});
  RepeatedCalls<float> beside({.P = 2, .count = 9000});
  const CapturedCalls<float> graphs(calls);
  for (int r = 0; r < 2; ++r) {
    calls.fill(r, 5), wanted.fill(r, 5), beside.fill(r, 9);
    const NcclRank &me = calls.ranks()[r], &other = beside.ranks()[r];
    EXPECT_EQ(beside.call({r, me.comm, other.stream}), 0);
    EXPECT_EQ(graphs.launch({r, me.comm, wanted.ranks()[r].stream}), 0);
    EXPECT_EQ(beside.call({r, me.comm, other.stream}), 0);
    EXPECT_EQ(wanted.call(wanted.ranks()[r]), 0);
  }
  stand_in_finish();
  for (int r = 0; r < 2; ++r) EXPECT_TRUE(calls.results(r) == wanted.results(r));
}

// ---- No settle

// A call may need more memory than those in flight before it, whose memory is not freed for that.
TEST(NcclGraphs, LargerCallsWaitForNothing) {
  NcclRanks ranks(2, "block:8,when=always,min_bytes=1", 2);
  const OnGpu<float> x(std::vector<float>(90000, 1)), y(std::vector<float>(90000, 2));
  const unsigned long waits = stand_in_waits();
  for (const std::size_t n : {64u, 9000u, 90000u})
    for (int r = 0; r < 2; ++r) {  // one thread: a call that waited would hang
      float* const own = (r == 0 ? x : y).data();
      EXPECT_EQ(TAUT_Nccl_AllReduce(own, own, n, ncclFloat32, ncclSum, ranks[r].comm, ranks[r].stream), 0);
    }
  EXPECT_EQ(stand_in_waits(), waits);
  stand_in_finish();
  EXPECT_EQ(x.peek(90000), y.peek(90000));
  EXPECT_NEAR(x.peek(90000)[63], 12, 0.5);
}

// Calls that grow by an eighth leave behind one size of memory an octave.
TEST(NcclGraphs, CallsThatGrowKeepLittleMemory) {
  NcclRanks ranks(2, "block:8,when=always,min_bytes=1", 2);
  const OnGpu<float> x(std::vector<float>(90000, 1)), y(std::vector<float>(90000, 2));
  const unsigned long before = stand_in_memories();
  for (std::size_t n = 8000; n <= 90000; n += n / 8)
    for (int r = 0; r < 2; ++r) {
      float* const own = (r == 0 ? x : y).data();
      EXPECT_EQ(TAUT_Nccl_AllReduce(own, own, n, ncclFloat32, ncclSum, ranks[r].comm, ranks[r].stream), 0);
    }
  stand_in_finish();
  EXPECT_LE(stand_in_memories() - before, 70u);
}

// Two streams take turns. The memory of both is kept: to free it the host would wait for the device.
TEST(NcclGraphs, StreamsThatTakeTurnsKeepTheirMemory) {
  RepeatedCalls<float> calls({.P = 2, .count = 9000});
  const Stream others[2];
  const auto call_on_both_streams = [&] {
    for (int r = 0; r < 2; ++r)
      for (const cudaStream_t stream : {calls.ranks()[r].stream, cudaStream_t(others[r])})
        EXPECT_EQ(calls.call({r, calls.ranks()[r].comm, stream}), 0) << TAUT_Nccl_last_error();
    stand_in_finish();
  };
  call_on_both_streams();
  stand_in_no_memory_at(1);
  call_on_both_streams();
  EXPECT_EQ(stand_in_no_memory_at(0), 0u);
}

// CUDA gives the handle of a destroyed stream to a new one. That one has other memory: the work of the old
// stream may still be in progress.
TEST(NcclGraphs, AStreamWithTheHandleOfAnother) {
  const Repeated repeated{.P = 2, .count = 9000};
  RepeatedCalls<float> first(repeated), second(repeated), wanted_first(repeated), wanted_second(repeated);
  for (int r = 0; r < 2; ++r) {
    wanted_first.fill(r, 3), wanted_second.fill(r, 4);
    for (RepeatedCalls<float>* const one : {&wanted_first, &wanted_second})
      EXPECT_EQ(one->call(one->ranks()[r]), 0);
  }
  stand_in_finish();
  with_seeds(20, [&] {
    cudaStream_t streams[2];
    for (int r = 0; r < 2; ++r) {
      first.fill(r, 3), second.fill(r, 4);
      ASSERT_EQ(cudaStreamCreateWithFlags(&streams[r], cudaStreamNonBlocking), cudaSuccess);
      EXPECT_EQ(first.call({r, first.ranks()[r].comm, streams[r]}), 0);
    }
    for (int r = 0; r < 2; ++r) {
      cudaStream_t const handle = streams[r];
      ASSERT_EQ(cudaStreamDestroy(handle), cudaSuccess);
      ASSERT_EQ(cudaStreamCreateWithFlags(&streams[r], cudaStreamNonBlocking), cudaSuccess);
      EXPECT_EQ(streams[r], handle);
      EXPECT_EQ(second.call({r, first.ranks()[r].comm, streams[r]}), 0);
    }
    stand_in_finish();
    for (int r = 0; r < 2; ++r) {
      EXPECT_TRUE(first.results(r) == wanted_first.results(r));
      EXPECT_TRUE(second.results(r) == wanted_second.results(r));
      cudaStreamDestroy(streams[r]);
    }
  });
}

// The program never settles. Memory and events do not grow with 10,000 calls of two ranks, in one stream or
// two.
TEST(NcclGraphs, CallsWithoutASettleKeepMemoryBounded) {
  RepeatedCalls<float> calls({.P = 2, .count = 64, .with_residual = true}), other({.P = 2, .count = 64});
  unsigned long memories[2] = {};
  long objects[2] = {};
  const auto make = [&](int count) {
    calls.ranks().run([&](NcclRank& me) {
      const NcclRank second{me.rank, me.comm, other.ranks()[me.rank].stream};
      for (int k = 1; k <= count; ++k) {
        ASSERT_EQ(calls.call(me), 0);
        if (k % 10 == 0) {
          ASSERT_EQ(other.call(second), 0);
        }
        if (k % 50 == 0) me.finish(), second.finish();
      }
    });
    stand_in_finish();
  };
  for (const int turn : {0, 1}) {
    make(turn == 0 ? 500 : 5000);
    memories[turn] = stand_in_memories(), objects[turn] = stand_in_objects();
  }
  EXPECT_LE(memories[1], memories[0] + 4);
  EXPECT_LE(objects[1], objects[0] + 8);
}

// Work that has not run when a communicator is released, or gets another policy, uses its memory safely.
TEST(NcclGraphs, ReleaseWithCallsInFlight) {
  for (const bool with_residual : {false, true}) {
    const Repeated repeated{.P = 2, .count = 9000, .with_residual = with_residual};
    RepeatedCalls<float> calls(repeated), wanted(repeated);
    for (int r = 0; r < 2; ++r)
      for (RepeatedCalls<float>* const one : {&wanted, &calls}) {
        one->fill(r, 3);
        for (int turn = 0; turn < 2; ++turn) EXPECT_EQ(one->call(one->ranks()[r]), 0);
      }
    const unsigned long waits = stand_in_waits();
    for (int r = 0; r < 2; ++r) EXPECT_EQ(TAUT_Nccl_comm_release(calls.ranks()[r].comm), 0);
    EXPECT_EQ(stand_in_waits(), waits);
    stand_in_finish();
    for (int r = 0; r < 2; ++r) EXPECT_TRUE(calls.results(r) == wanted.results(r));
  }
}

TEST(NcclByNodesGraphs, AnotherPolicyWithCallsInFlight) {
  const int L = std::max(options().ranks_per_node, 1);
  const Repeated repeated{.policy = "block:8,nodes=on", .P = 2 * L, .count = 840, .with_residual = true};
  RepeatedCalls<float> calls(repeated), wanted(repeated);
  const auto make = [&](RepeatedCalls<float>& made, bool changes) {
    made.ranks().run([&](NcclRank& me) {
      made.fill(me.rank, 3);
      for (int turn = 0; turn < 4; ++turn) {
        EXPECT_EQ(made.call(me), 0) << TAUT_Nccl_last_error();
        if (!changes) continue;
        EXPECT_EQ(TAUT_Nccl_comm_set_policy(me.comm, repeated.whole_policy().c_str()), 0);
        EXPECT_EQ(TAUT_Nccl_comm_set_capacity(me.comm, 2), 0);
      }
    });
    stand_in_finish();
  };
  make(calls, true);
  make(wanted, false);
  for (int r = 0; r < 2 * L; ++r) EXPECT_TRUE(calls.results(r) == wanted.results(r));
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// A graph keeps its memory, and its communicator of the node, when the communicator gets another policy.
TEST(NcclByNodesGraphs, OutliveAPolicy) {
  const int L = std::max(options().ranks_per_node, 1);
  const Repeated repeated{.policy = "block:8,nodes=on", .P = 2 * L, .count = 840, .with_residual = true};
  RepeatedCalls<float> replayed(repeated), direct(repeated);
  {
    const CapturedCalls<float> graphs(replayed);
    replayed.ranks().run([&](NcclRank& me) {
      EXPECT_EQ(TAUT_Nccl_comm_set_policy(me.comm, "block:4,when=always,min_bytes=1"), 0);
      EXPECT_EQ(TAUT_Nccl_comm_set_policy(me.comm, "off"), 0);
    });
    EXPECT_TRUE(replayed.run(3, [&](const NcclRank& me) { return graphs.launch(me); }) ==
                direct.run(3, [&](const NcclRank& me) { return direct.call(me); }));
  }
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// ---- Failures that are told later

// Makes the call on all ranks. One thread does: no work runs before each call has returned.
void enqueue_on_all(RepeatedCalls<float>& calls) {
  for (int r = 0; r < calls.ranks().size(); ++r) EXPECT_EQ(calls.call(calls.ranks()[r]), 0);
}

// An operand of an allreduce is damaged: no rank gets values for the result, and all learn of it, once.
TEST(NcclGraphs, ADamagedOperandIsToldLater) {
  for (const bool with_residual : {false, true}) {
    RepeatedCalls<float> calls({.P = 3, .count = 3000, .with_residual = with_residual});
    calls.ranks().run([&](NcclRank& me) { EXPECT_EQ(calls.call(me), 0); });
    stand_in_finish();
    fake_nccl::damage_message(1);
    enqueue_on_all(calls);
    stand_in_finish();
    calls.ranks().run([&](NcclRank& me) {
      EXPECT_EQ(calls.call(me), mismatch);
      EXPECT_NE(std::strstr(TAUT_Nccl_last_error(), "earlier call"), nullptr) << TAUT_Nccl_last_error();
      me.finish();
      EXPECT_EQ(calls.call(me), 0) << TAUT_Nccl_last_error();
      EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), mismatch)
          << "told to all by settle, once";
      EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0);
    });
    fake_nccl::damage_message(0);
  }
}

// A frame of a result is damaged on its way to one rank: that one learns of it, the others when they settle.
TEST(NcclGraphs, ADamagedResultIsToldLater) {
  for (const Collective collective : {Collective::allreduce, Collective::allgather, Collective::bcast}) {
    SCOPED_TRACE(name_of(collective));
    RepeatedCalls<float> calls({.collective = collective, .P = 3, .count = 3000});
    calls.ranks().run([&](NcclRank& me) { EXPECT_EQ(calls.call(me), 0); });
    stand_in_finish();
    fake_nccl::damage_message(collective == Collective::allreduce ? 12 : 1);
    enqueue_on_all(calls);
    stand_in_finish();
    std::atomic<int> told{0};
    calls.ranks().run([&](NcclRank& me) {
      const int status = calls.call(me);
      EXPECT_TRUE(status == 0 || status == mismatch);
      told += status != 0;
      EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream),
                status != 0 ? mismatch : static_cast<int>(Status::peer_failed));
      EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0);
    });
    EXPECT_EQ(told, 1);
    fake_nccl::damage_message(0);
  }
}

// A failure in one launch of a graph is not lost when later launches succeed, nor when the policy changes.
TEST(NcclGraphs, AFailureInALaunchIsToldLater) {
  for (const bool changes : {false, true}) {
    RepeatedCalls<float> calls({.P = 2, .count = 3000});
    const CapturedCalls<float> graphs(calls);
    const auto launch = [&] {
      for (int r = 0; r < 2; ++r) EXPECT_EQ(graphs.launch(calls.ranks()[r]), 0);
      stand_in_finish();
    };
    fake_nccl::damage_message(1);
    launch();
    fake_nccl::damage_message(0);
    for (int turn = 0; turn < 3; ++turn) launch();
    calls.ranks().run([&](NcclRank& me) {
      if (changes) {
        EXPECT_EQ(TAUT_Nccl_comm_set_policy(me.comm, "block:4,when=always,min_bytes=1"), 0);
      }
      EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), mismatch);
      EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0);
    });
  }
}

TEST(NcclGraphs, ReleaseTellsAFailureToo) {
  RepeatedCalls<float> calls({.P = 2, .count = 3000});
  calls.ranks().run([&](NcclRank& me) { EXPECT_EQ(calls.call(me), 0); });
  stand_in_finish();
  fake_nccl::damage_message(1);
  enqueue_on_all(calls);
  stand_in_finish();
  fake_nccl::damage_message(0);
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(TAUT_Nccl_comm_release(calls.ranks()[r].comm), mismatch);
    EXPECT_EQ(TAUT_Nccl_comm_release(calls.ranks()[r].comm), 0);
  }
}

// ---- What a graph cannot hold

// Expects that a captured call is refused with these words, leaves the capture as it was, and that the
// communicator works on.
void expect_refusal(const NcclRank& me, const char* words, const std::function<int()>& call,
                    int status = static_cast<int>(Status::invalid_argument)) {
  const Graph graph(me.stream, [&] {
    EXPECT_EQ(call(), status);
    EXPECT_NE(std::strstr(TAUT_Nccl_last_error(), words), nullptr) << TAUT_Nccl_last_error();
  });
  EXPECT_EQ(graph.ended(), cudaSuccess);
}

TEST(NcclGraphs, OtherCallsAreRefused) {
  struct Refused {
    const char* policy;
    double ratio;
  };
  for (const auto& [policy, ratio] : {Refused{"abs:1e-3,codec=planes,predictor=delta", 4},
                                      {"abs:1e-3,codec=planes", 0},
                                      {"rel:1e-3", 0},
                                      {"block:8", 0},
                                      {"block:8,slots=2", 0}}) {
    SCOPED_TRACE(policy);
    RepeatedCalls<float> calls({.policy = policy, .P = 2, .count = 3000, .ratio = ratio});
    calls.ranks().run([&](NcclRank& me) {
      EXPECT_EQ(calls.call(me), 0) << TAUT_Nccl_last_error();
      EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0);
      expect_refusal(me, "frames of a fixed size", [&] { return calls.call(me); });
      expect_refusal(me, "TAUT_Nccl_comm_settle",
                     [&] { return TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream); });
      const OnGpu<float> x(std::vector<float>(100));
      expect_refusal(me, "message", [&] {
        return TAUT_Nccl_Send(x.data(), 100, ncclFloat32, 1 - me.rank, me.comm, me.stream);
      });
      EXPECT_EQ(calls.call(me), 0) << TAUT_Nccl_last_error();
      EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, nullptr, me.stream), 0);
    });
  }
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// Calls that the policy leaves to NCCL are captured by NCCL.
TEST(NcclGraphs, HoldCallsThatAreLeftToNccl) {
  for (const char* const policy :
       {"off", "rel:1e-3,min_bytes=1MiB", "abs:1e-3,codec=planes,min_bytes=1MiB"}) {
    NcclRanks ranks(2, policy);
    std::vector<std::unique_ptr<OnGpu<float>>> x;
    for (int r = 0; r < 2; ++r) x.push_back(std::make_unique<OnGpu<float>>(std::vector<float>(300, 1)));
    ranks.run([&](NcclRank& me) {
      float* const own = x[static_cast<std::size_t>(me.rank)]->data();
      const Graph graph(me.stream, [&] {
        EXPECT_EQ(TAUT_Nccl_AllReduce(own, own, 300, ncclFloat32, ncclSum, me.comm, me.stream), 0);
      });
      for (int turn = 0; turn < 3; ++turn) EXPECT_EQ(graph.launch(me.stream), cudaSuccess);
      me.finish();
    });
    for (const auto& own : x) EXPECT_EQ(own->peek(300), std::vector<float>(300, 8));
  }
}

// A first call prepares what a captured one needs: without it the error says so, after it the capture
// succeeds.
TEST(NcclByNodesGraphs, NeedAFirstCall) {
  const int L = options().ranks_per_node;
  const Repeated repeated{
      .policy = L > 1 ? "block:8,nodes=on" : "block:8", .P = 2 * std::max(L, 1), .with_residual = true};
  const std::list<Stream> others(2000);  // a new stream with the handle of an old one would have its memory
  RepeatedCalls<float> calls(repeated);
  calls.ranks().run([&](NcclRank& me) {
    Graph(me.stream, [&] {
      EXPECT_NE(calls.call(me), 0);
      EXPECT_NE(std::strstr(TAUT_Nccl_last_error(), "once on this stream before the capture"), nullptr)
          << TAUT_Nccl_last_error();
    });
  });
  const CapturedCalls<float> graphs(calls);
  calls.run(2, [&](const NcclRank& me) { return graphs.launch(me); });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// A frame holds 2^30 values: longer blocks are not served in slots.
TEST(NcclGraphs, BlocksBeyondAFrame) {
  NcclRanks ranks(2, "block:8,when=always,min_bytes=1", 2);
  const OnGpu<float> x(std::vector<float>(300)), residual(std::vector<float>(300));
  const std::size_t block = std::size_t{1} << 30;
  expect_refusal(ranks[0], "frames of a fixed size", [&] {
    return TAUT_Nccl_Broadcast(x.data(), x.data(), block + 1, ncclFloat32, 0, ranks[0].comm, ranks[0].stream);
  });
  expect_refusal(ranks[0], "frames of a fixed size", [&] {
    return TAUT_Nccl_AllReduce(x.data(), x.data(), 2 * block + 1, ncclFloat32, ncclSum, ranks[0].comm,
                               ranks[0].stream);
  });
  EXPECT_EQ(TAUT_Nccl_AllReduce_with_residual(x.data(), x.data(), 2 * block + 1, ncclFloat32, ncclSum,
                                              residual.data(), ranks[0].comm, ranks[0].stream),
            static_cast<int>(Status::invalid_count));
}

// The first call on a communicator that has no stream of the program.
TEST(NcclGraphs, TheCapacityIsSetBesideACapture) {
  NcclThreads ranks(2);
  const Stream captured(cudaStreamDefault);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  ranks.run(
      [&](NcclRank& me) { EXPECT_EQ(TAUT_Nccl_comm_set_capacity(me.comm, 2), 0) << TAUT_Nccl_last_error(); });
  EXPECT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  for (int r = 0; r < 2; ++r) EXPECT_EQ(TAUT_Nccl_comm_release(ranks[r].comm), 0);
}

TEST(NcclGraphs, TheFirstCallOnACommunicatorIsRefused) {
  NcclThreads ranks(2);
  const OnGpu<float> x(std::vector<float>(300));
  expect_refusal(ranks[0], "first call", [&] {
    return TAUT_Nccl_AllReduce(x.data(), x.data(), 300, ncclFloat32, ncclSum, ranks[0].comm, ranks[0].stream);
  });
}

}  // namespace graphs_test
}  // namespace taut::test

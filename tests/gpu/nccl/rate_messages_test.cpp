// Tests messages of unchanged programs that travel as frames of a fixed size.
#include "compressor/base/options.hpp"
#include "gpu/nccl/coded_values.hpp"
#include "gpu/nccl/dropin_ranks.hpp"

namespace taut::test {
namespace rate_messages_test {

constexpr std::size_t n = 6000;
constexpr const char* coding = "rate:16";
constexpr const char* policy = "rate:16,codec=zfp,min_bytes=1";

Values values_of(int rank, DType type = DType::f32) {
  return make_values(type, n, Pattern::smooth, static_cast<std::uint64_t>(rank));
}

// A message of `n` values of a type.
int send(const NcclRank& me, int to, const OnGpu<std::byte>& x, DType type = DType::f32) {
  return taut_dropin_ncclSend(x.data(), n, nccl_type(type), to, me.comm, me.stream);
}
int receive(const NcclRank& me, int from, const OnGpu<std::byte>& x, DType type = DType::f32) {
  return taut_dropin_ncclRecv(x.data(), n, nccl_type(type), from, me.comm, me.stream);
}

// Sends values around a ring, in groups. `of_frames`: their coding; null: there are none. Returns the
// bytes that travelled.
unsigned long ring(const std::string& of_all, DType type, const char* of_frames) {
  DropinRanks ranks(3, of_all);
  const unsigned long before = fake_nccl::sent_bytes();
  ranks.run([&](NcclRank& me) {
    const int to = (me.rank + 1) % 3, from = (me.rank + 2) % 3;
    const OnGpu<std::byte> out = on_gpu(values_of(me.rank, type)), in(n * size_of(type));
    EXPECT_EQ(taut_dropin_ncclGroupStart(), 0);
    EXPECT_EQ(send(me, to, out, type), 0);
    EXPECT_EQ(receive(me, from, in, type), 0);
    EXPECT_EQ(taut_dropin_ncclGroupEnd(), 0);
    me.finish();
    const Values sent = values_of(from, type);
    EXPECT_TRUE(fetched(in, type) == (of_frames != nullptr ? as_coded(sent, of_frames) : sent)) << of_all;
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
  return fake_nccl::sent_bytes() - before;
}

TEST(NcclRateMessages, HaveTheBitsOfTheHost) {
  for (const DType type : {DType::f32, DType::f64}) {
    const unsigned long frame = codec_of(coding, type)->max_bytes(type, n);
    EXPECT_EQ(ring(policy, type, coding), 3 * frame);
  }
}

TEST(NcclRateMessages, BlocksToo) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16})
    for (const char* const block : {"block:8", "block:6", "block:4"}) {
      const unsigned long frame = codec_of(block, type)->max_bytes(type, n);
      EXPECT_EQ(ring(block + std::string(",min_bytes=1"), type, block), 3 * frame);
    }
}

TEST(NcclRateMessages, OtherMessagesAreNccls) {
  EXPECT_EQ(ring(policy, DType::f16, nullptr), 3 * n * 2);
  for (const char* const other :
       {"abs:1e-3,codec=planes,min_bytes=1", "rate:5,codec=zfp,min_bytes=1", "rate:16,codec=zfp",
        "rate:16,bits=exact,min_bytes=1", "rate:30,min_bytes=1,when=profitable"})
    EXPECT_EQ(ring(other, DType::f32, nullptr), 3 * n * sizeof(float)) << other;
}

// One side has a group and the other side does not, as NCCL allows.
TEST(NcclRateMessages, GroupsMayDifferBetweenTheSides) {
  DropinRanks ranks(2, policy);
  ranks.run([&](NcclRank& me) {
    const OnGpu<std::byte> out = on_gpu(values_of(me.rank)), in(n * sizeof(float));
    for (int turn = 0; turn < 3; ++turn) {
      if (me.rank == 0) {
        EXPECT_EQ(taut_dropin_ncclGroupStart(), 0);
        EXPECT_EQ(receive(me, 1, in), 0);
        EXPECT_EQ(send(me, 1, out), 0);
        EXPECT_EQ(taut_dropin_ncclGroupEnd(), 0);
      } else {
        EXPECT_EQ(receive(me, 0, in), 0);
        EXPECT_EQ(send(me, 0, out), 0);
      }
    }
    me.finish();
    EXPECT_TRUE(fetched(in, DType::f32) == as_coded(values_of(1 - me.rank), coding));
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// With calls in flight, one thread drives both ranks: a call that waited would wait for the other one.
TEST(NcclRateMessages, TheHostDoesNotWait) {
  if (!options().nccl_in_flight) GTEST_SKIP() << "TAUT_NCCL_IN_FLIGHT is not 1";
  DropinRanks ranks(2, policy);
  const OnGpu<std::byte> out = on_gpu(values_of(0)), in(n * sizeof(float));
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(send(ranks[0], 1, out), 0);
    EXPECT_EQ(receive(ranks[1], 0, in), 0);
  }
  ranks[0].finish();
  ranks[1].finish();
  EXPECT_TRUE(fetched(in, DType::f32) == as_coded(values_of(0), coding));
}

// CUDA may wait for all streams while it loads a kernel.
TEST(NcclRateMessages, LoadNoKernel) {
  for (const auto& [bound, types] : {std::pair{std::string("block:8"), std::vector{DType::f16, DType::bf16}},
                                     std::pair{std::string("rate:16,codec=zfp"), std::vector{DType::f64}}}) {
    DropinRanks ranks(2, bound + ",min_bytes=1");
    const unsigned long loads = stand_in_loads();
    for (const DType type : types)
      ranks.run([&](NcclRank& me) {
        const OnGpu<std::byte> x = on_gpu(values_of(0, type));
        EXPECT_EQ(me.rank == 0 ? send(me, 1, x, type) : receive(me, 0, x, type), 0);
        me.finish();
      });
    EXPECT_EQ(stand_in_loads(), loads) << bound;
  }
}

// Memory of the host that a GPU can access, and an address that kernels do not accept.
TEST(NcclRateMessages, AnyBufferOfNccl) {
  DropinRanks ranks(2, policy);
  void* pinned = nullptr;  // freed when no stream waits for the host any more
  EXPECT_EQ(cudaHostAlloc(&pinned, n * sizeof(float), cudaHostAllocDefault), cudaSuccess);
  ranks.run([&](NcclRank& me) {
    const OnGpu<std::byte> odd = on_gpu(values_of(0), 2);
    if (me.rank == 0) {
      EXPECT_EQ(send(me, 1, odd), 0);
    } else {
      EXPECT_EQ(taut_dropin_ncclRecv(pinned, n, ncclFloat32, 0, me.comm, me.stream), 0);
    }
    me.finish();
    const Values expected = as_coded(values_of(0), coding);
    if (me.rank == 1) {
      EXPECT_EQ(std::memcmp(pinned, expected.slice().data, n * sizeof(float)), 0);
    }
  });
  cudaFreeHost(pinned);
}

// The other side, whose stream may not be captured, expects a frame.
TEST(NcclRateMessages, InACapturedStreamAreAnError) {
  DropinRanks ranks(2, policy);
  const NcclRank& me = ranks[0];
  const OnGpu<std::byte> x = on_gpu(values_of(0));
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(me.stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_NE(send(me, 1, x), 0);
  cudaStreamEndCapture(me.stream, &graph);
  if (graph != nullptr) cudaGraphDestroy(graph);
}

}  // namespace rate_messages_test
}  // namespace taut::test

// Tests messages between two ranks over the simulated NCCL.
#include "gpu/nccl/coded_values.hpp"
#include "support/gpu_faults.h"

namespace taut::test {
namespace messages_test {

constexpr std::size_t n = 20000;

TEST(NcclMessages, ARingOfAllTypes) {
  for (const char* const coding : {"abs:1e-3,codec=planes", "lossless,codec=mpc", "lossless,codec=exponents"})
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      const Coding read = parse_coding(coding);
      if (!read.codec->serves(type, read.bound.kind)) continue;
      NcclRanks ranks(3, std::string(coding) + ",min_bytes=1");
      const unsigned long before = fake_nccl::sent_bytes();
      ranks.run([&](NcclRank& me) {
        const auto values_of = [&](int rank) {
          return make_values(type, n, Pattern::smooth, static_cast<std::uint64_t>(rank));
        };
        const int to = (me.rank + 1) % 3, from = (me.rank + 2) % 3;
        const OnGpu<std::byte> out = on_gpu(values_of(me.rank)), in(n * size_of(type));
        EXPECT_EQ(TAUT_Nccl_GroupStart(), 0);
        EXPECT_EQ(TAUT_Nccl_Send(out.data(), n, nccl_type(type), to, me.comm, me.stream), 0);
        EXPECT_EQ(TAUT_Nccl_Recv(in.data(), n, nccl_type(type), from, me.comm, me.stream), 0);
        EXPECT_EQ(TAUT_Nccl_GroupEnd(), 0) << TAUT_Nccl_last_error();
        EXPECT_TRUE(fetched(in, type) == as_coded(values_of(from), coding));
      });
      EXPECT_LT(fake_nccl::sent_bytes() - before, 3 * n * size_of(type));
      EXPECT_EQ(fake_nccl::take_report(), "");
    }
}

// CUDA may wait for all streams when pinned memory is freed.
TEST(NcclMessages, AGroupUsesTheMemoryOfTheOneBefore) {
  NcclRanks ranks(2, "abs:1e-3,codec=planes,min_bytes=1");
  const OnGpu<float> x(std::vector<float>(n, 1)), y(n);
  for (const bool again : {false, true}) {
    if (again) stand_in_no_memory_at(1);
    ranks.run([&](NcclRank& me) {
      const int code = me.rank == 0 ? TAUT_Nccl_Send(x.data(), n, ncclFloat32, 1, me.comm, me.stream)
                                    : TAUT_Nccl_Recv(y.data(), n, ncclFloat32, 0, me.comm, me.stream);
      EXPECT_EQ(code, 0) << TAUT_Nccl_last_error();
    });
  }
  EXPECT_EQ(stand_in_no_memory_at(0), 0u);
  EXPECT_NEAR(y.peek(n)[n - 1], 1, 1e-3);
}

TEST(NcclMessages, AloneAndPlain) {
  for (const char* const policy : {"abs:1e-3,codec=planes,min_bytes=1", "abs:1e-3,codec=planes", "off"}) {
    NcclRanks ranks(2, policy);
    ranks.run([&](NcclRank& me) {
      const OnGpu<float> x(std::vector<float>(1000, static_cast<float>(me.rank + 1)));
      const int code = me.rank == 0 ? TAUT_Nccl_Send(x.data(), 1000, ncclFloat32, 1, me.comm, me.stream)
                                    : TAUT_Nccl_Recv(x.data(), 1000, ncclFloat32, 0, me.comm, me.stream);
      EXPECT_EQ(code, 0) << TAUT_Nccl_last_error();
      me.finish();
      EXPECT_NEAR(x.peek(1000)[999], 1, 1e-3);
    });
  }
}

// A group in which NCCL refuses a call leaves work on its stream, which runs later.
TEST(NcclMessages, AFailureFreesTheMemoryOfTheGroupAfterItsWork) {
  fake_nccl::set_patience(0.05);
  for (unsigned long call = 1; call <= 4; ++call) {
    NcclRanks ranks(2, "abs:1e-3,codec=planes,min_bytes=1");
    fake_nccl::fail_at(call);
    ranks.run([&](NcclRank& me) {
      const OnGpu<float> x(std::vector<float>(n, 1));
      const int code = me.rank == 0 ? TAUT_Nccl_Send(x.data(), n, ncclFloat32, 1, me.comm, me.stream)
                                    : TAUT_Nccl_Recv(x.data(), n, ncclFloat32, 0, me.comm, me.stream);
      EXPECT_EQ(code, 80);
      stand_in_finish();
    });
    fake_nccl::fail_at(0);
    fake_nccl::take_report();
  }
  fake_nccl::set_patience(20);
}

// Without a policy, messages are NCCL's own: also with a partner that calls NCCL itself.
TEST(NcclMessages, WithoutAPolicyAreThoseOfNccl) {
  NcclThreads ranks(2);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(std::vector<float>(1000, static_cast<float>(me.rank + 1)));
    if (me.rank == 0) {
      EXPECT_EQ(TAUT_Nccl_Send(x.data(), 1000, ncclFloat32, 1, me.comm, me.stream), 0);
    } else {
      EXPECT_EQ(ncclRecv(x.data(), 1000, ncclFloat32, 0, me.comm, me.stream), ncclSuccess);
    }
    me.finish();
    EXPECT_EQ(x.peek(1000)[999], 1);
  });
}

TEST(NcclMessages, OfAnotherSizeAreAnError) {
  for (const char* const policy : {"abs:1e-3,codec=planes,min_bytes=1", "abs:1e-3,codec=planes"}) {
    NcclRanks ranks(2, policy);
    ranks.run([&](NcclRank& me) {
      const OnGpu<float> x(std::vector<float>(1000, 1));
      if (me.rank == 0)
        EXPECT_EQ(TAUT_Nccl_Send(x.data(), 1000, ncclFloat32, 1, me.comm, me.stream), 0);
      else
        EXPECT_NE(TAUT_Nccl_Recv(x.data(), 900, ncclFloat32, 0, me.comm, me.stream), 0);
    });
    EXPECT_EQ(fake_nccl::take_report(), "");
  }
}

TEST(NcclMessages, ErrorsNameTheArgument) {
  NcclRanks ranks(1, "abs:1e-3");
  const NcclRank& me = ranks[0];
  float host = 0;
  EXPECT_EQ(TAUT_Nccl_Send(&host, 1, ncclFloat32, 0, me.comm, me.stream), 1);
  EXPECT_NE(std::string(TAUT_Nccl_last_error()).find("sendbuff"), std::string::npos);
  EXPECT_EQ(TAUT_Nccl_Recv(&host, 1, 77, 0, me.comm, me.stream), 3);
  EXPECT_EQ(TAUT_Nccl_GroupEnd(), 1);
}

}  // namespace messages_test
}  // namespace taut::test

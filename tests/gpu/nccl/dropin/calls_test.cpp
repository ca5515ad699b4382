// Tests of the calls that move data: results within the bound, and those of NCCL bit for bit where no rule
// applies.
#include "gpu/nccl/dropin/program.hpp"

namespace taut::test {
namespace {

constexpr std::size_t n = 9000;
constexpr int P = 3;

TEST(NcclProgram, LoadsTautForRulesOnly) {
  const NcclThreads ranks(P);
  EXPECT_EQ(is_loaded("libtaut_nccl"), has_rules());
}

TEST(NcclProgram, AllReduceInPlaceAndNot) {
  NcclThreads ranks(P);
  Results sums(P), again(P);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(values_of(me.rank, n)), sum(n);
    EXPECT_EQ(ncclAllReduce(x.data(), sum.data(), n, ncclFloat32, ncclSum, me.comm, me.stream), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(x.data(), x.data(), n, ncclFloat32, ncclAvg, me.comm, me.stream), ncclSuccess);
    me.finish();
    sums[me.rank] = sum.peek(n);
    again[me.rank] = x.peek(n);
    expect_near(sums[me.rank], [](std::size_t i) { return sum_of(P, i); });
    expect_near(again[me.rank], [](std::size_t i) { return sum_of(P, i) / P; });
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

TEST(NcclProgram, BlocksOfRanks) {
  NcclThreads ranks(P);
  Results gathered(P);
  ranks.run([&](NcclRank& me) {
    const auto me_at = static_cast<std::size_t>(me.rank);
    const OnGpu<float> x(values_of(me.rank, P * n)), part(n), all(P * n), swapped(P * n);
    EXPECT_EQ(ncclReduceScatter(x.data(), part.data(), n, ncclFloat32, ncclSum, me.comm, me.stream),
              ncclSuccess);
    EXPECT_EQ(ncclAllGather(x.data(), all.data(), n, ncclFloat32, me.comm, me.stream), ncclSuccess);
    EXPECT_EQ(ncclAlltoAll(x.data(), swapped.data(), n, ncclFloat32, me.comm, me.stream), ncclSuccess);
    me.finish();
    expect_near(part.peek(n), [&](std::size_t i) { return sum_of(P, me_at * n + i); });
    gathered[me.rank] = all.peek(P * n);
    expect_near(gathered[me.rank], [](std::size_t i) { return value_of(static_cast<int>(i / n), i % n); });
    expect_near(swapped.peek(P * n),
                [&](std::size_t i) { return value_of(static_cast<int>(i / n), me_at * n + i % n); });
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

TEST(NcclProgram, RootsAndTheirBuffers) {
  NcclThreads ranks(P);
  Results first(P), second(P);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(values_of(me.rank, n)), y(values_of(me.rank, n)), sum(n), copy(n);
    EXPECT_EQ(ncclReduce(x.data(), sum.data(), n, ncclFloat32, ncclSum, 1, me.comm, me.stream), ncclSuccess);
    EXPECT_EQ(ncclBroadcast(x.data(), copy.data(), n, ncclFloat32, 2, me.comm, me.stream), ncclSuccess);
    EXPECT_EQ(ncclBcast(y.data(), n, ncclFloat32, 0, me.comm, me.stream), ncclSuccess);
    me.finish();
    if (me.rank == 1) expect_near(sum.peek(n), [](std::size_t i) { return sum_of(P, i); });
    first[me.rank] = copy.peek(n);
    expect_near(first[me.rank], [](std::size_t i) { return value_of(2, i); });
    if (me.rank == 0) {
      EXPECT_EQ(y.peek(n), values_of(0, n));  // the root's values stay
    } else {
      second[me.rank] = y.peek(n);
      expect_near(second[me.rank], [](std::size_t i) { return value_of(0, i); });
    }
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

// Products, integers, short calls and operators of the program are NCCL's: its bits.
TEST(NcclProgram, NcclServesTheRest) {
  NcclThreads ranks(P);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(values_of(me.rank, n)), mine(n), plain(n), scaled(n);
    const OnGpu<int> integers(std::vector<int>(n, me.rank)), total(n);
    ncclRedOp_t twice{};
    float two = 2;
    EXPECT_EQ(ncclAllReduce(x.data(), mine.data(), n, ncclFloat32, ncclProd, me.comm, me.stream),
              ncclSuccess);
    EXPECT_EQ(pncclAllReduce(x.data(), plain.data(), n, ncclFloat32, ncclProd, me.comm, me.stream),
              ncclSuccess);
    EXPECT_EQ(ncclAllReduce(integers.data(), total.data(), n, ncclInt32, ncclSum, me.comm, me.stream),
              ncclSuccess);
    EXPECT_EQ(ncclRedOpCreatePreMulSum(&twice, &two, ncclFloat32, ncclScalarHostImmediate, me.comm),
              ncclSuccess);
    EXPECT_EQ(ncclAllReduce(x.data(), scaled.data(), n, ncclFloat32, twice, me.comm, me.stream), ncclSuccess);
    EXPECT_EQ(ncclRedOpDestroy(twice, me.comm), ncclSuccess);
    me.finish();
    EXPECT_EQ(mine.peek(n), plain.peek(n));
    EXPECT_EQ(total.peek(n)[n - 1], 3);
    EXPECT_NEAR(scaled.peek(n)[0], 2 * sum_of(P, 0), 1e-5);
    EXPECT_EQ(ncclAllReduce(x.data(), mine.data(), 200, ncclFloat32, ncclSum, me.comm, me.stream),
              ncclSuccess);
    EXPECT_EQ(pncclAllReduce(x.data(), plain.data(), 200, ncclFloat32, ncclSum, me.comm, me.stream),
              ncclSuccess);
    me.finish();
    EXPECT_EQ(mine.peek(200), plain.peek(200));
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

TEST(NcclProgram, WrongArgumentsAreErrorsOfNccl) {
  NcclThreads ranks(2);
  ranks.run([&](NcclRank& me) {
    const OnGpu<float> x(values_of(me.rank, n));
    EXPECT_EQ(ncclBroadcast(x.data(), x.data(), n, ncclFloat32, 7, me.comm, me.stream), ncclInvalidArgument);
    EXPECT_EQ(
        ncclAllReduce(x.data(), x.data(), n, static_cast<ncclDataType_t>(12), ncclSum, me.comm, me.stream),
        ncclInvalidArgument);
  });
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  fake_nccl::take_report();
}

// Memory of the host that a GPU can access: NCCL serves the call, on all ranks.
TEST(NcclProgram, BuffersOfTheHost) {
  NcclThreads ranks(P);
  ranks.run([&](NcclRank& me) {
    void* pinned = nullptr;
    EXPECT_EQ(cudaHostAlloc(&pinned, n * sizeof(float), cudaHostAllocDefault), cudaSuccess);
    const OnGpu<float> x(values_of(me.rank, n)), sum(n);
    const void* const from = me.rank == 1 ? pinned : x.data();
    std::ranges::copy(values_of(me.rank, n), static_cast<float*>(pinned));
    EXPECT_EQ(ncclAllReduce(from, sum.data(), n, ncclFloat32, ncclSum, me.comm, me.stream), ncclSuccess);
    me.finish();
    expect_near(sum.peek(n), [](std::size_t i) { return sum_of(P, i); });
    cudaFreeHost(pinned);
  });
  EXPECT_EQ(fake_nccl::take_report(), "");
}

}  // namespace
}  // namespace taut::test

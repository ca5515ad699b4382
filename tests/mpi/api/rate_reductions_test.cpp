// Reductions at a fixed rate, which a policy asks for by naming the codec, in every mode of a call.
#include "compressor/frame/codec.hpp"
#include "mpi/api/modes.hpp"

namespace taut::test {
namespace {

class RateReductions : public testing::TestWithParam<std::tuple<Collective, Mode::Kind>> {
 protected:
  void SetUp() override {
    if (find_codec("zfp") == nullptr) GTEST_SKIP() << "the codec zfp is left out";
  }

  // Makes one call. Checks that it is compressed, that its errors are of the size that 16 bits leave, and
  // that all ranks have the same bits.
  void expect_close(const char* policy, DType type, Reduction op, bool mean) const {
    const auto [collective, kind] = GetParam();
    const Comm comm(policy);
    const int P = comm.size(), root = P - 1;
    SCOPED_TRACE(testing::Message() << policy << " " << name_of(type) << " " << name_of(op) << " " << mean);
    const std::size_t count = 30001 * static_cast<std::size_t>(P);
    Job job(collective, P, count, type, Pattern::noisy, 1, op, root);
    TAUT_Request request = TAUT_REQUEST_NULL;
    const Mode mode{kind, &request};
    ASSERT_EQ(complete(mode, call(collective, job, type, mpi_op(op, mean), root, false, comm, mode)),
              MPI_SUCCESS);
    const double allowed = 0.03 * P * (2 * P - 1);
    EXPECT_EQ(check_here(collective, job, false, comm.rank(), allowed, 2 * P, nullptr, mean), "");
    if (Job::same_everywhere(collective)) {
      EXPECT_TRUE(same_on_all(job, comm));
    }
    EXPECT_EQ(comm.stats().compressed_calls, P > 1 ? 1u : 0u);
  }
};

TEST_P(RateReductions, AreCompressedByName) {
  const Collective collective = std::get<0>(GetParam());
  for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max})
    expect_close("rate:16,codec=zfp", DType::f32, op, false);
  expect_close("rate:16,codec=zfp", DType::f64, Reduction::sum, !computes_prefixes(collective));
  expect_close("rate:16,codec=zfp,segments=3,checksum=on", DType::f32, Reduction::sum, false);
}

TEST_P(RateReductions, AreMpisWithoutTheName) {
  const auto [collective, kind] = GetParam();
  const Comm comm("rate:16");
  const int P = comm.size();
  Job job(collective, P, 30001 * static_cast<std::size_t>(P), DType::f32, Pattern::noisy, 1);
  TAUT_Request request = TAUT_REQUEST_NULL;
  const Mode mode{kind, &request};
  ASSERT_EQ(complete(mode, call(collective, job, DType::f32, MPI_SUM, 0, false, comm, mode)), MPI_SUCCESS);
  EXPECT_EQ(check_here(collective, job, false, comm.rank(), 0, 2 * P), "");
  EXPECT_EQ(comm.stats().compressed_calls, 0u);
  EXPECT_EQ(comm.stats().plain_unsupported, 1u);
}

std::vector<Collective> reductions() {
  std::vector<Collective> some(std::begin(all_collectives), std::end(all_collectives));
  std::erase_if(some, [](Collective collective) { return !reduces(collective); });
  return some;
}

INSTANTIATE_TEST_SUITE_P(All, RateReductions,
                         testing::Combine(testing::ValuesIn(reductions()),
                                          testing::Values(Mode::blocking, Mode::nonblocking,
                                                          Mode::persistent)),
                         name_by_mode<RateReductions::ParamType>);

}  // namespace
}  // namespace taut::test

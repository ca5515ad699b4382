// All ranks leave calls on GPU memory to plain MPI, and no rank accesses that memory.
#include "support/device_memory.hpp"
#include "support/ranks.hpp"

namespace taut::test {
namespace device_values_test {

constexpr int P = 3;
constexpr std::size_t count = 30000;

class ValuesOnADevice : public testing::TestWithParam<const char*> {
 protected:
  // `place` puts the memory into the rank's request.
  template <class Place>
  void expect_plain(Collective collective, Place place) {
    Ranks ranks(P, GetParam());
    Job job(collective, P, count, DType::f32, Pattern::smooth, 1);
    const Job untouched = job;
    for (const Verdict& verdict : ranks.run(collective, job, place)) {
      EXPECT_EQ(verdict.fallback, Fallback::device);
      EXPECT_EQ(verdict.status, Status::ok);
    }
    EXPECT_TRUE(job.outputs == untouched.outputs);
  }
  const DeviceMemory there{count * P * sizeof(float)};
};

TEST_P(ValuesOnADevice, OfAllRanks) {
  expect_plain(Collective::allreduce, [&](int, CollectiveCall& request) {
    request.data.in.data = request.data.out.data = there.data();
  });
}

TEST_P(ValuesOnADevice, SentByOne) {
  expect_plain(Collective::allgather, [&](int rank, CollectiveCall& request) {
    if (rank == 1) request.data.in.data = there.data();
  });
}

TEST_P(ValuesOnADevice, ReceivedByOne) {
  expect_plain(Collective::bcast, [&](int rank, CollectiveCall& request) {
    if (rank == 2) request.data.out.data = there.data();
  });
}

// Staging of values with gaps in GPU memory.
class Apart final : public Staging {
 public:
  bool on_device() const noexcept override { return true; }
  std::array<Buffer, 2> pack(Place&, Operands&) const override {
    ADD_FAILURE() << "packed";
    return {};
  }
  void unpack(const Operands&) const override { ADD_FAILURE() << "unpack"; }
};

TEST_P(ValuesOnADevice, LyingApart) {
  expect_plain(Collective::alltoall, [&](int rank, CollectiveCall& request) {
    if (rank != 0) return;
    request.staging = std::make_shared<Apart>();
    request.data.in.data = request.data.out.data = nullptr;
  });
}

INSTANTIATE_TEST_SUITE_P(All, ValuesOnADevice,
                         testing::Values("abs:1e-3", "rel:1e-5", "lossless,codec=mpc",
                                         "abs:1e-3,when=always"));

}  // namespace device_values_test
}  // namespace taut::test

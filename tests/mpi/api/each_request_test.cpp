// Tests of every call in its nonblocking and its persistent form.
#include "mpi/api/world.hpp"

namespace taut::test {
namespace each_request_test {

struct Case {
  Collective collective;
  bool in_place;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << name_of(c.collective) << (c.in_place ? " in place" : "");
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Collective collective : all_collectives)
    for (const bool in_place : {false, true})
      if (in_place || collective != Collective::bcast) all.push_back({collective, in_place});
  return all;
}

class EachCall : public testing::TestWithParam<Case> {
 protected:
  Job job(int P, std::size_t count, Pattern pattern, std::uint64_t seed) const {
    return {GetParam().collective,
            P,
            count * static_cast<std::size_t>(P),
            DType::f32,
            pattern,
            seed,
            Reduction::sum,
            P - 1,
            GetParam().in_place};
  }
  int begin(Job& job, const Comm& comm, Mode mode) const {
    return call(GetParam().collective, job, DType::f32, MPI_SUM, comm.size() - 1, GetParam().in_place, comm,
                mode);
  }
  std::string check(Job& job, const Comm& comm, double bound) const {
    return check_here(GetParam().collective, job, GetParam().in_place, comm.rank(), bound, 2 * comm.size());
  }
};

// Compressed, small, without values, incompressible, without a policy, off.
TEST_P(EachCall, Nonblocking) {
  struct {
    const char* policy;
    std::size_t count;
    Pattern pattern;
    double bound;
  } const ways[] = {{"abs:1e-3", 30001, Pattern::smooth, 1e-3},
                    {"abs:1e-3", 100, Pattern::smooth, 0},
                    {"abs:1e-3,min_bytes=0", 0, Pattern::smooth, 0},
                    {"abs:1e-12", 30001, Pattern::noisy, 0},
                    {nullptr, 30001, Pattern::smooth, 0},
                    {"off", 30001, Pattern::smooth, 0}};
  for (const auto& way : ways) {
    SCOPED_TRACE(testing::Message() << (way.policy != nullptr ? way.policy : "none") << " " << way.count);
    const Comm comm(way.policy);
    Job mine = job(comm.size(), way.count, way.pattern, 1);
    TAUT_Request request = TAUT_REQUEST_NULL;
    ASSERT_EQ(begin(mine, comm, {Mode::nonblocking, &request}), MPI_SUCCESS);
    ASSERT_NE(request, TAUT_REQUEST_NULL);
    ASSERT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(request, TAUT_REQUEST_NULL);
    EXPECT_EQ(check(mine, comm, way.bound), "");
    if (Job::same_everywhere(GetParam().collective)) {
      EXPECT_TRUE(same_on_all(mine, comm));
    }
    if (comm.size() > 1) {
      EXPECT_EQ(comm.stats().compressed_calls, way.bound > 0 ? 1u : comm.stats().compressed_calls);
    }
  }
}

TEST_P(EachCall, PersistentReadsItsBuffersAnew) {
  for (const char* policy : {"abs:1e-3", "abs:1e-12", (const char*)nullptr}) {
    SCOPED_TRACE(policy != nullptr ? policy : "none");
    const Comm comm(policy);
    Job mine = job(comm.size(), 4000, Pattern::noisy, 1);
    TAUT_Request request = TAUT_REQUEST_NULL;
    ASSERT_EQ(begin(mine, comm, {Mode::persistent, &request}), MPI_SUCCESS);
    EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);  // inactive
    for (std::uint64_t round = 0; round < 2; ++round) {
      const Job fresh = job(comm.size(), 4000, Pattern::noisy, 10 + round);
      for (std::size_t r = 0; r < mine.inputs.size(); ++r) {  // new values in the same memory
        std::memcpy(mine.inputs[r].slice().data, fresh.inputs[r].slice().data, mine.bytes());
        std::memcpy(mine.outputs[r].slice().data, fresh.outputs[r].slice().data, mine.bytes());
      }
      ASSERT_EQ(TAUT_Start(&request), MPI_SUCCESS);
      int flag = 0;
      while (flag == 0) ASSERT_EQ(TAUT_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
      ASSERT_NE(request, TAUT_REQUEST_NULL);
      EXPECT_EQ(check(mine, comm, policy != nullptr ? 1e-3 : 0), "");
    }
    EXPECT_EQ(TAUT_Request_free(&request), MPI_SUCCESS);
    EXPECT_EQ(request, TAUT_REQUEST_NULL);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EachCall, testing::ValuesIn(cases()), [](const auto& test) {
  return std::string(name_of(test.param.collective)) + (test.param.in_place ? "_in_place" : "");
});
}  // namespace each_request_test
}  // namespace taut::test

// Compares Alltoallw, with a datatype for each block, with packed values that plain MPI moves.
#include <cstring>
#include <numeric>

#include "mpi/api/modes.hpp"
#include "mpi/api/typed_blocks.hpp"

namespace taut::test {
namespace alltoallw_test {

// Number of values that rank i sends to rank j.
int matrix(int i, int j) { return (i + 2 * j) % 4 == 0 ? 0 : values_of_shapes * (300 + 51 * i + 7 * j); }

class Alltoallw : public testing::TestWithParam<std::tuple<const char*, Mode::Kind>> {
 protected:
  const char* const policy = std::get<0>(GetParam());
  const Comm comm{policy};
  const int P = comm.size(), me = comm.rank();
  const double bound = std::strchr(policy, ':') != nullptr ? 1e-3 : 0;

  int run(const void* in, const TypedArea& from, TypedArea& to) {
    TAUT_Request request = TAUT_REQUEST_NULL;
    const Mode mode{std::get<1>(GetParam()), &request};
    const int code = mode(TAUT_Alltoallw, TAUT_Ialltoallw, TAUT_Alltoallw_init, in, from.counts.data(),
                          from.displacements.data(), from.types.data(), to.at(), to.counts.data(),
                          to.displacements.data(), to.types.data(), comm);
    if (mode.kind == Mode::persistent) to.types.assign(to.types.size(), MPI_DATATYPE_NULL);  // copied
    if (std::strcmp(policy, "off") != 0 && P > 1) to.free_types();
    return complete(mode, code);
  }

  // Moves the packed values of `from` by plain MPI.
  void move(const TypedArea& from, TypedArea& to) const {
    const auto starts = [](const std::vector<int>& counts) {
      std::vector<int> all(counts.size());
      std::exclusive_scan(counts.begin(), counts.end(), all.begin(), 0);
      return all;
    };
    const std::vector<int> sent = starts(from.values), received = starts(to.values);
    const std::vector<float> in = from.packed();
    std::vector<float> out(static_cast<std::size_t>(received.back() + to.values.back()) + 1);
    MPI_Alltoallv(in.data(), from.values.data(), sent.data(), MPI_FLOAT, out.data(), to.values.data(),
                  received.data(), MPI_FLOAT, comm);
    for (std::size_t i = 0; i < received.size(); ++i) to.unpack(i, out.data() + received[i]);
  }
};

TEST_P(Alltoallw, AnyShapes) {
  for (int round = 0; round < shapes; ++round) {
    SCOPED_TRACE(round);
    const TypedArea from(
        P, round + me, [&](int i) { return matrix(me, i); }, me);
    const auto received = [&](int i) { return matrix(i, me); };
    TypedArea got(P, round + 5 * me + 3, received), want(P, round + 5 * me + 3, received);
    move(from, want);
    ASSERT_EQ(run(from.floats.data(), from, got), MPI_SUCCESS);
    expect_alike(got, want, bound);
  }
  if (P > 1 && std::strcmp(policy, "off") != 0) {
    EXPECT_EQ(comm.stats().compressed_calls, static_cast<std::uint64_t>(shapes));
  }
}

TEST_P(Alltoallw, InPlace) {
#ifdef OPEN_MPI  // has no nonblocking MPI_Alltoallw in place for any counts
  if (std::strcmp(policy, "off") == 0) GTEST_SKIP();
#endif
  const auto both = [&](int i) { return matrix(std::min(me, i), std::max(me, i)); };
  TypedArea got(P, me, both, me), want(P, me, both, me);
  const TypedArea before(P, me, both, me);
  move(before, want);
  TAUT_Request request = TAUT_REQUEST_NULL;
  const Mode mode{std::get<1>(GetParam()), &request};
  const int code =
      mode(TAUT_Alltoallw, TAUT_Ialltoallw, TAUT_Alltoallw_init, MPI_IN_PLACE, nullptr, nullptr, nullptr,
           got.at(), got.counts.data(), got.displacements.data(), got.types.data(), comm);
  ASSERT_EQ(complete(mode, code), MPI_SUCCESS);
  expect_alike(got, want, bound);
}

// A rank that neither sends nor receives has no datatype; the other ranks are served.
TEST_P(Alltoallw, OfRanksWithoutValues) {
  const auto both = [&](int i) { return me == 0 || i == 0 ? 0 : 12000; };
  const TypedArea from(P, me, both, me);
  TypedArea got(P, 1, both), want(P, 1, both);
  move(from, want);
  ASSERT_EQ(run(from.floats.data(), from, got), MPI_SUCCESS);
  expect_alike(got, want, bound);
  if (P > 2 && std::strcmp(policy, "off") != 0) {
    EXPECT_EQ(comm.stats().compressed_calls, 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Alltoallw,
    testing::Combine(testing::Values("abs:1e-3,codec=planes,min_bytes=0", "lossless,codec=raw,min_bytes=0",
                                     "rel:1e-4,codec=planes,min_bytes=0,segments=2", "off"),
                     testing::Values(Mode::blocking, Mode::nonblocking, Mode::persistent)),
    name_by_mode<Alltoallw::ParamType>);

// Blocks of several kinds of values, on one rank or on different ranks, are MPI's, and the reason is known.
TEST(AlltoallwOfSeveralKinds, IsMpis) {
  const Comm comm("abs:1e-3,min_bytes=0");
  const int P = comm.size(), me = comm.rank();
  const auto n = static_cast<std::size_t>(P);
  for (const bool on_one_rank : {true, false}) {
    std::vector<int> values(4000 * n, me), got(values.size(), -1);
    std::vector<MPI_Count> counts(n, 4000);
    std::vector<MPI_Aint> places(n);
    std::vector<MPI_Datatype> types(n, MPI_INT);
    for (std::size_t i = 0; i < n; ++i) {
      const bool far = (static_cast<int>(i) + me) % 2 != 0;
      places[i] = static_cast<MPI_Aint>(16000 * i);
      if (on_one_rank && far) types[i] = MPI_FLOAT;
      if (!on_one_rank && far) counts[i] = 0;  // only ranks of one parity exchange values
      if (!on_one_rank && me % 2 == 0) types[i] = MPI_FLOAT;
    }
    ASSERT_EQ(TAUT_Alltoallw(values.data(), counts.data(), places.data(), types.data(), got.data(),
                             counts.data(), places.data(), types.data(), comm),
              MPI_SUCCESS);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], counts[i / 4000] == 0 ? -1 : static_cast<int>(i / 4000)) << i;
  }
  EXPECT_EQ(comm.stats().compressed_calls, 0u);
  std::size_t needed = 0;
  TAUT_Comm_explain(comm, nullptr, 0, &needed);
  std::string text(needed, '\0');
  TAUT_Comm_explain(comm, text.data(), needed, nullptr);
  if (P > 1) {
    EXPECT_NE(text.find("type"), std::string::npos) << text;
  }
}

}  // namespace alltoallw_test
}  // namespace taut::test

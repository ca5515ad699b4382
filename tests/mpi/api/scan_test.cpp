// Prefixes: bits, bounds and special values of TAUT_Scan and TAUT_Exscan.
#include "mpi/api/world.hpp"

namespace taut::test {
namespace {

using Numbers = std::vector<double>;

// Values of a rank that lie between the integers of a quantiser of bound `e`: all its errors are as large as
// they may be, and have one sign.
Numbers between_steps(int rank, std::size_t n, double e) {
  Numbers values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = (2 * std::floor(200 * std::sin(1e-3 * static_cast<double>(i) + rank)) + 0.999) * e;
  return values;
}

Numbers scan(const Numbers& in, MPI_Comm comm, MPI_Op op = MPI_SUM) {
  Numbers out(in.size(), -7);
  EXPECT_EQ(TAUT_Scan(in.data(), out.data(), static_cast<MPI_Count>(in.size()), MPI_DOUBLE, op, comm),
            MPI_SUCCESS);
  return out;
}

bool same_bits(const Numbers& a, const Numbers& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST(Scans, EveryPrefixIsWithinTheBound) {
  constexpr std::size_t n = 20011;
  for (const char* more : {"", ",algorithm=chain,segments=5", ",algorithm=recursive_doubling,segments=2",
                           ",reduction=values,algorithm=chain", ",codec=szx", ",threads=3"}) {
    const Comm comm((std::string("abs:1e-3,min_bytes=0,when=always") + more).c_str());
    const Numbers got = scan(between_steps(comm.rank(), n, 1e-3 / comm.size()), comm);
    std::vector<long double> want(n);
    for (int r = 0; r <= comm.rank(); ++r) {
      const Numbers theirs = between_steps(r, n, 1e-3 / comm.size());
      for (std::size_t i = 0; i < n; ++i) want[i] += theirs[i];
    }
    for (std::size_t i = 0; i < n; ++i) ASSERT_LE(std::abs(got[i] - want[i]), 1e-3L + 1e-14L) << more << i;
    EXPECT_EQ(comm.stats().compressed_calls, comm.size() > 1 ? 1u : 0u) << more;
  }
}

// Under on=input a communicator of any size codes with the same bound.
TEST(Scans, PrefixesHaveTheBitsOfSmallerCommunicators) {
  for (const char* more :
       {"", ",segments=3", ",algorithm=recursive_doubling", ",reduction=values,algorithm=chain",
        ",reduction=values,algorithm=recursive_doubling", ",codec=szx,algorithm=chain"}) {
    const std::string policy = std::string("abs:1e-3,on=input,min_bytes=0,when=always") + more;
    const Comm all(policy.c_str());
    const Numbers in = between_steps(all.rank(), 9001, 1e-3 / 3);
    for (const MPI_Op op : {MPI_SUM, MPI_MAX}) {
      const Numbers want = scan(in, all, op);
      for (int P = 2; P < all.size(); ++P) {
        MPI_Comm first;
        MPI_Comm_split(MPI_COMM_WORLD, all.rank() < P ? 0 : 1, 0, &first);
        if (all.rank() < P) {
          const Comm some(policy.c_str(), first);
          EXPECT_TRUE(same_bits(scan(in, some, op), want)) << policy << ", " << P << " ranks";
        }
        MPI_Comm_free(&first);
      }
    }
  }
}

TEST(Scans, InPlaceAndAnyCount) {
  for (const char* more : {"", ",algorithm=recursive_doubling"}) {
    const Comm comm((std::string("abs:1e-3,min_bytes=0,when=always,codec=planes") + more).c_str());
    for (const std::size_t n : {0u, 1u, 2u, 10007u}) {
      const Numbers in = between_steps(comm.rank(), n, 1e-4), want = scan(in, comm);
      Numbers both = in;
      EXPECT_EQ(TAUT_Scan(MPI_IN_PLACE, both.data(), static_cast<MPI_Count>(n), MPI_DOUBLE, MPI_SUM, comm),
                MPI_SUCCESS);
      EXPECT_TRUE(same_bits(both, want)) << n;
    }
  }
}

TEST(Scans, ExclusivePrefixesHaveTheBitsOfTheRankBefore) {
  for (const char* more :
       {"", ",segments=3", ",algorithm=recursive_doubling", ",reduction=values", ",codec=szx"}) {
    const Comm comm((std::string("abs:1e-3,min_bytes=0,when=always") + more).c_str());
    const int me = comm.rank(), P = comm.size();
    const Numbers in = between_steps(me, 9001, 1e-4);
    for (const MPI_Op op : {MPI_SUM, MPI_MIN}) {
      Numbers inclusive = scan(in, comm, op), exclusive(in.size(), -7), in_place = in, theirs(in.size(), -7);
      const auto n = static_cast<int>(in.size());
      EXPECT_EQ(TAUT_Exscan(in.data(), exclusive.data(), n, MPI_DOUBLE, op, comm), MPI_SUCCESS);
      EXPECT_EQ(TAUT_Exscan(MPI_IN_PLACE, in_place.data(), n, MPI_DOUBLE, op, comm), MPI_SUCCESS);
      MPI_Sendrecv(inclusive.data(), n, MPI_DOUBLE, me + 1 < P ? me + 1 : MPI_PROC_NULL, 0, theirs.data(), n,
                   MPI_DOUBLE, me > 0 ? me - 1 : MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
      EXPECT_TRUE(same_bits(exclusive, theirs)) << more;
      EXPECT_TRUE(same_bits(in_place, me > 0 ? exclusive : in)) << more;  // rank 0: untouched
    }
    EXPECT_EQ(comm.stats().compressed_calls, P > 1 ? 6u : 0u);
  }
}

TEST(Scans, TheReceiveBufferOfRankZeroMayBeAbsent) {
  const Comm comm("abs:1e-3,min_bytes=0,when=always");
  const Numbers in = between_steps(comm.rank(), 5000, 1e-4);
  Numbers out(5000, -7);
  double* const at = comm.rank() == 0 && comm.size() > 1 ? nullptr : out.data();
  EXPECT_EQ(TAUT_Exscan(in.data(), at, 5000, MPI_DOUBLE, MPI_SUM, comm), MPI_SUCCESS);
  EXPECT_EQ(comm.stats().compressed_calls, comm.size() > 1 ? 1u : 0u);
}

// Rank 0 has 1e30, NaN, infinity, -0 and a subnormal in places, rank 1 has -1e30.
TEST(Scans, SpecialValuesReachTheRanksBehind) {
  constexpr std::size_t n = 5000;
  const double most = std::numeric_limits<double>::infinity(), none = std::nan("");
  const Comm comm("abs:1e-3,min_bytes=0,when=always");
  const int me = comm.rank();
  Numbers in(n, 0.25);
  for (std::size_t i = 0; i < n; i += 100) {
    if (me < 2) in[i] = me == 0 ? 1e30 : -1e30;
    if (me == 1) in[i + 1] = none, in[i + 2] = most;
    if (me == 0) in[i + 3] = -0.0, in[i + 4] = 5e-324;
  }
  const Numbers got = scan(in, comm);
  for (std::size_t i = 0; i < n; i += 100) {
    if (me == 0)
      EXPECT_EQ(got[i], 1e30);
    else
      EXPECT_NEAR(got[i], 0.25 * (me - 1), 1e-3);  // 1e30 and -1e30 add up to nothing
    EXPECT_EQ(std::isnan(got[i + 1]), me >= 1);
    EXPECT_EQ(got[i + 2] == most, me >= 1);
    EXPECT_NEAR(got[i + 3], 0.25 * me, 1e-3);
    EXPECT_NEAR(got[i + 4], 0.25 * me, 1e-3);
    EXPECT_NEAR(got[i + 5], 0.25 * (me + 1), 1e-3);
  }
}

}  // namespace
}  // namespace taut::test

// Tests of what calls report: counters, times, explanations.
#include <cstring>

#include "mpi/api/world.hpp"

namespace taut::test {
namespace observe_test {

constexpr int n = 100000;

std::string explanation(MPI_Comm comm) {
  std::size_t needed = 0;
  EXPECT_EQ(TAUT_Comm_explain(comm, nullptr, 0, &needed), MPI_SUCCESS);
  std::string text(needed, 'x');
  EXPECT_EQ(TAUT_Comm_explain(comm, text.data(), text.size(), nullptr), MPI_SUCCESS);
  EXPECT_EQ(std::strlen(text.c_str()) + 1, needed);
  text.pop_back();
  return text;
}

auto lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

struct Observing : testing::Test {
  int sum(int count, MPI_Comm comm) {
    return TAUT_Allreduce(x.data(), y.data(), count, MPI_FLOAT, MPI_SUM, comm);
  }
  std::vector<float> x = std::vector<float>(n, 1.0f), y = x;
};

TEST_F(Observing, TimesAddUp) {
  const Comm comm("abs:1e-3");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sum(n, comm), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Allreduce(x.data(), y.data(), n, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);  // plain
  EXPECT_EQ(sum(2, comm), MPI_SUCCESS);
  const TAUT_Stats s = comm.stats();
  EXPECT_EQ(s.call_ns, s.encode_ns + s.combine_ns + s.decode_ns + s.wait_ns + s.agree_ns + s.plain_ns);
  EXPECT_GT(s.plain_ns, 0u);
  EXPECT_EQ(s.message_bytes, 4u * (4 * n + 2));
  if (comm.size() > 1) {
    EXPECT_GT(s.encode_ns, 0u);
    EXPECT_GT(s.agree_ns, 0u);
    EXPECT_GT(s.carried_bytes, s.sent_bytes);
  }
}

TEST_F(Observing, SmallCallsAreCountedNotTimed) {
  const Comm comm("abs:1e-3");
  EXPECT_EQ(sum(2, comm), MPI_SUCCESS);
  EXPECT_EQ(comm.stats().calls, 1u);
  EXPECT_EQ(comm.stats().call_ns, 0u);
}

TEST_F(Observing, SmallCallsInARowAreCountedEach) {
  const Comm comm("abs:1e-3,codec=planes");
  const auto small = [&](MPI_Datatype type, MPI_Op op, int count) {
    x[0] = x[1] = 2;
    EXPECT_EQ(TAUT_Allreduce(x.data(), y.data(), count, type, op, comm), MPI_SUCCESS);
    return y[0];
  };
  const float all = 2.0f * static_cast<float>(comm.size());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(small(MPI_FLOAT, MPI_SUM, 2), all);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(small(MPI_FLOAT, MPI_MAX, 2), 2);
  EXPECT_EQ(small(MPI_FLOAT, MPI_SUM, 2), all);
  EXPECT_EQ(small(MPI_FLOAT, MPI_SUM, 1), all);
  for (int i = 0; i < 2; ++i) small(MPI_INT, MPI_SUM, 2);
  for (int i = 0; i < 2; ++i) small(MPI_FLOAT_INT, MPI_MAXLOC, 1);  // Taut does not compress pairs
  EXPECT_EQ(comm.stats().calls, 11u);
  EXPECT_EQ(comm.stats().message_bytes, 10u * 8 + 4);
  EXPECT_EQ(lines(explanation(comm)), 1 + 5);

  EXPECT_EQ(sum(n, comm), MPI_SUCCESS);
  const std::uint64_t compressed = comm.size() > 1 ? 1 : 0;
  EXPECT_EQ(comm.stats().compressed_calls, compressed);
  EXPECT_EQ(TAUT_Comm_set_policy(comm, "abs:1e-3,codec=planes,min_bytes=4B"), MPI_SUCCESS);
  EXPECT_NEAR(small(MPI_FLOAT, MPI_SUM, 2), all, 1e-3);  // the type that was small has grown
  EXPECT_EQ(comm.stats().compressed_calls, 2 * compressed);
}

TEST_F(Observing, SmallMovesInARowAreCountedEach) {
  const Comm comm("abs:1e-3,codec=planes");
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  for (int root = 0; root < comm.size(); ++root)
    for (int time = 0; time < 2; ++time) {
      x[0] = static_cast<float>(comm.rank() + time);
      std::ranges::fill(y, -1.0F);
      EXPECT_EQ(TAUT_Gather(x.data(), 1, MPI_FLOAT, y.data(), 1, MPI_FLOAT, root, comm), MPI_SUCCESS);
      for (int r = 0; r < comm.size(); ++r)
        EXPECT_EQ(y[static_cast<std::size_t>(r)], comm.rank() == root ? static_cast<float>(r + time) : -1.0F);
      EXPECT_EQ(TAUT_Scatter(y.data(), 1, MPI_FLOAT, x.data(), 1, MPI_FLOAT, root, comm), MPI_SUCCESS);
      EXPECT_EQ(x[0], static_cast<float>(comm.rank() + time));
      EXPECT_EQ(TAUT_Bcast(x.data(), 1, MPI_FLOAT, root, comm), MPI_SUCCESS);
      EXPECT_EQ(x[0], static_cast<float>(root + time));
      EXPECT_EQ(TAUT_Allgather(x.data(), 1, MPI_FLOAT, y.data(), 1, MPI_FLOAT, comm), MPI_SUCCESS);
      EXPECT_EQ(TAUT_Alltoall(y.data(), 1, MPI_FLOAT, x.data(), 1, MPI_FLOAT, comm), MPI_SUCCESS);
      EXPECT_EQ(x[0], static_cast<float>(root + time));
    }
  EXPECT_EQ(comm.stats().calls, 10 * ranks);
  EXPECT_EQ(comm.stats().message_bytes, 2 * ranks * (4 + 4 * ranks * 4));
}

// During a back-off all ranks count the same calls, whether or not a call resembles the one before.
TEST_F(Observing, CallsThatRestAreCountedEach) {
  const Comm comm("abs:1e-9");
  Values wild = make_values(DType::f32, n, Pattern::wild, 1), got = wild;
  const auto large = [&] {
    return TAUT_Allreduce(wild.slice().data, got.slice().data, n, MPI_FLOAT, MPI_MAX, comm);
  };
  constexpr std::uint64_t calls = 150;
  for (std::uint64_t i = 0; i < calls; ++i) {
    if (comm.rank() % 2 == 0 || i % 3 == 0) {
      EXPECT_EQ(large(), MPI_SUCCESS);
    } else {
      EXPECT_EQ(large(), MPI_SUCCESS);  // from another call site
    }
    EXPECT_TRUE(got == wild);
    TAUT_Request request = TAUT_REQUEST_NULL;
    if (i % 10 == 9) {
      EXPECT_EQ(TAUT_Ibcast(x.data(), n, MPI_FLOAT, 0, comm, &request), MPI_SUCCESS);
    }
    if (i % 25 == 24) {
      EXPECT_EQ(sum(2, comm), MPI_SUCCESS);
    }
    EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  const TAUT_Stats s = comm.stats();
  EXPECT_EQ(s.calls, calls + calls / 10 + calls / 25);
  EXPECT_EQ(s.message_bytes, 4 * (n * (calls + calls / 10) + 2 * (calls / 25)));
  EXPECT_EQ(s.plain_no_gain, comm.size() > 1 ? calls : 0);
  EXPECT_EQ(s.call_ns, s.encode_ns + s.combine_ns + s.decode_ns + s.wait_ns + s.agree_ns + s.plain_ns);
  EXPECT_GT(s.plain_ns, 0u);
}

// MPI may reuse the handle of a freed datatype for another one.
TEST_F(Observing, SmallCallsSayNothingOfOtherDatatypes) {
  const Comm comm("abs:1e-3,codec=planes,when=always");
  for (const int values : {1, n, 1, n}) {
    MPI_Datatype type;
    MPI_Type_contiguous(values, MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    EXPECT_EQ(TAUT_Bcast(x.data(), 1, type, 0, comm), MPI_SUCCESS);
    MPI_Type_free(&type);
  }
  EXPECT_EQ(comm.stats().compressed_calls, comm.size() > 1 ? 2u : 0u);
}

TEST_F(Observing, WhatIsSwitchedOffIsCounted) {
  const Comm comm("off");
  EXPECT_EQ(sum(n, comm), MPI_SUCCESS);
  EXPECT_EQ(comm.stats().plain_off, 1u);
  EXPECT_NE(explanation(comm).find("1 plain (switched off)"), std::string::npos);
}

TEST_F(Observing, AProgramOfBeforeGetsWhatItKnows) {
  const Comm comm("abs:1e-3");
  EXPECT_EQ(sum(n, comm), MPI_SUCCESS);
  TAUT_Stats stats{};
  stats.struct_size = offsetof(TAUT_Stats, plain_off);
  stats.plain_off = 77;
  EXPECT_EQ(TAUT_Comm_get_stats(comm, &stats), MPI_SUCCESS);
  EXPECT_EQ(stats.calls, 1u);
  EXPECT_EQ(stats.plain_off, 77u);
}

TEST_F(Observing, AKindOfCallIsALine) {
  const Comm comm("abs:1e-3,codec=planes");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(sum(n, comm), MPI_SUCCESS);
  EXPECT_EQ(sum(n / 2, comm), MPI_SUCCESS);
  const std::string text = explanation(comm);
  EXPECT_EQ(lines(text), 3) << text;
  EXPECT_EQ(text.rfind("policy abs:1e-3,codec=planes on ", 0), 0u) << text;
  EXPECT_NE(text.find("allreduce f32 sum 256KiB at "), std::string::npos) << text;
  EXPECT_NE(text.find(comm.size() > 1 ? "2 compressed by planes/" : "(a single rank"), std::string::npos);
}

TEST_F(Observing, PlacesInTheProgramAreToldApart) {
  const Comm comm("abs:1e-3");
  EXPECT_EQ(TAUT_Allreduce(x.data(), y.data(), n, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Allreduce(x.data(), y.data(), n, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(TAUT_Bcast(x.data(), n, MPI_FLOAT, 0, comm), MPI_SUCCESS);  // one call site
  EXPECT_EQ(lines(explanation(comm)), 1 + 2 + 1);
}

std::string policy_of(MPI_Comm comm) {
  char text[64] = "";
  std::size_t needed = 0;
  EXPECT_EQ(TAUT_Comm_get_policy(comm, text, sizeof text, &needed), MPI_SUCCESS);
  EXPECT_EQ(needed, std::strlen(text) + 1);
  return text;
}

TEST_F(Observing, StatisticsOutliveAPolicy) {
  const Comm comm("abs:1e-3,codec=planes");
  EXPECT_EQ(sum(n, comm), MPI_SUCCESS);
  EXPECT_EQ(sum(n, comm), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Comm_set_policy(comm, "lossless,codec=mpc"), MPI_SUCCESS);
  EXPECT_EQ(policy_of(comm), "lossless,codec=mpc");
  EXPECT_EQ(TAUT_Bcast(x.data(), n, MPI_FLOAT, 0, comm), MPI_SUCCESS);
  EXPECT_EQ(comm.stats().calls, 3u);
  EXPECT_EQ(TAUT_Comm_set_policy(comm, "abs:1e-3,codec=planes"), MPI_SUCCESS);
  EXPECT_EQ(sum(n, comm), MPI_SUCCESS);
  EXPECT_EQ(comm.stats().calls, 4u);
  const std::string text = explanation(comm);
  EXPECT_EQ(text.rfind("policy abs:1e-3,codec=planes on ", 0), 0u) << text;
  EXPECT_NE(text.find(": 3 calls"), std::string::npos) << text;
  EXPECT_NE(text.find("\npolicy lossless,codec=mpc on "), std::string::npos) << text;
  EXPECT_EQ(TAUT_Comm_set_policy(comm, nullptr), MPI_SUCCESS);
  EXPECT_EQ(policy_of(comm), "");
  EXPECT_EQ(comm.stats().calls, 4u);
}

TEST_F(Observing, ManyPoliciesTakeLittleMemory) {
  const Comm comm("abs:1e-3");
  for (int i = 1; i <= 20; ++i) {
    EXPECT_EQ(sum(2, comm), MPI_SUCCESS);
    EXPECT_EQ(TAUT_Comm_set_policy(comm, ("abs:" + std::to_string(i)).c_str()), MPI_SUCCESS);
  }
  EXPECT_EQ(comm.stats().calls, 20u);
  EXPECT_LE(lines(explanation(comm)), 1 + 2 * 16);
}

TEST_F(Observing, AnExplanationIsCutToItsRoom) {
  const Comm comm;
  EXPECT_EQ(explanation(comm), "no policy: all calls are plain MPI\n");
  char text[4] = "xxx";
  std::size_t needed = 0;
  EXPECT_EQ(TAUT_Comm_explain(comm, text, 3, &needed), MPI_SUCCESS);
  EXPECT_STREQ(text, "no");
  EXPECT_EQ(needed, 36u);
  EXPECT_EQ(TAUT_Error_status(TAUT_Comm_explain(comm, nullptr, 3, &needed)), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(TAUT_Error_status(TAUT_Comm_get_policy(comm, nullptr, 3, &needed)), TAUT_ERR_ARGUMENT);
}

}  // namespace observe_test
}  // namespace taut::test

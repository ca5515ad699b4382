// Invalid policies and calls that do not match: each gives an error on every rank, through the communicator's
// error handler.
#include "communication/comm/agree.hpp"
#include "mpi/api/world.hpp"

namespace taut::test {
namespace errors_test {

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

// ---- Policies

TEST(SetPolicy, AnUnreadableStringIsExplained) {
  const Comm comm;
  const int code = TAUT_Comm_set_policy(comm, "abs:1e-4,on=results");
  EXPECT_EQ(TAUT_Error_status(code), TAUT_ERR_POLICY);
  EXPECT_EQ(text_of(code),
            "Taut: policy, column 13: option 'on' cannot be 'results'; use result, input or likely");
}

// An info object with keys and values.
class Info {
 public:
  Info(std::initializer_list<std::pair<const char*, const char*>> entries) {
    MPI_Info_create(&info_);
    for (const auto& [key, value] : entries) MPI_Info_set(info_, key, value);
  }
  Info(const Info&) = delete;
  ~Info() { MPI_Info_free(&info_); }
  operator MPI_Info() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

TEST(SetInfo, IsAPolicyWhateverTheOrderOfItsKeys) {
  const Comm comm;
  const Info one{{"taut_when", "always"}, {"taut_bound", "abs:0.5"}, {"mpi_assert_no_any_tag", "false"}};
  const Info other{{"taut_bound", "abs:0.5"}, {"taut_when", "always"}};
  ASSERT_EQ(TAUT_Comm_set_info(comm, comm.rank() == 0 ? one : other), MPI_SUCCESS);
  std::vector<float> x(50000, 1.25F), y(x.size());
  ASSERT_EQ(TAUT_Allreduce(x.data(), y.data(), 50000, MPI_FLOAT, MPI_MAX, comm), MPI_SUCCESS);
  EXPECT_NEAR(y[7], 1.25, 0.5);
  EXPECT_EQ(comm.stats().compressed_calls, comm.size() > 1 ? 1u : 0u);
  ASSERT_EQ(TAUT_Comm_set_info(comm, Info{{"another", "1"}}), MPI_SUCCESS);
  EXPECT_EQ(comm.stats().calls, 1u);  // the one under the policy of before
  EXPECT_EQ(TAUT_Comm_set_info(comm, MPI_INFO_NULL), MPI_SUCCESS);
}

TEST(SetInfo, SaysWhatIsMissingOrUnknown) {
  const Comm comm;
  const Info no_bound{{"taut_codec", "szx"}}, bound{{"taut_bound", "abs:1"}};
  const int code = TAUT_Comm_set_info(comm, comm.rank() == 0 ? no_bound : bound);
  EXPECT_NE(code, MPI_SUCCESS);
  EXPECT_EQ(TAUT_Error_status(TAUT_Comm_set_info(comm, no_bound)), TAUT_ERR_POLICY);
  const Info unknown{{"taut_bound", "abs:1"}, {"taut_speed", "high"}};
  const int refused = TAUT_Comm_set_info(comm, unknown);
  EXPECT_EQ(TAUT_Error_status(refused), TAUT_ERR_POLICY);
  EXPECT_NE(text_of(refused).find("speed"), std::string::npos) << text_of(refused);
}

TEST(SetPolicy, DifferentStringsAreAnErrorOnEveryRank) {
  const Comm comm;
  if (comm.size() < 2) return;
  for (const char* other : {"abs:1e-4", "", "nonsense"}) {
    const int code = TAUT_Comm_set_policy(comm, comm.rank() == comm.size() - 1 ? other : "abs:1e-3");
    EXPECT_EQ(TAUT_Error_status(code), TAUT_ERR_RANK_MISMATCH) << text_of(code);
  }
}

TEST(SetPolicy, AFailedOneLeavesTheOldInForce) {
  const Comm comm("abs:1e-3,codec=planes");
  EXPECT_NE(TAUT_Comm_set_policy(comm, "abs:-1"), MPI_SUCCESS);
  std::vector<float> x(100000, 1.0f), y(100000);
  EXPECT_EQ(TAUT_Allreduce(x.data(), y.data(), 100000, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
  EXPECT_EQ(comm.stats().compressed_calls, comm.size() > 1 ? 1u : 0u);
}

TEST(SetPolicy, ReplacesAndRemoves) {
  const Comm comm("abs:1e-3");
  std::vector<float> x(100000, 1.0f), y(100000);
  auto compressed = [&] {
    EXPECT_EQ(TAUT_Allreduce(x.data(), y.data(), 100000, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
    return comm.stats().compressed_calls;
  };
  const std::uint64_t one = comm.size() > 1 ? 1 : 0;
  EXPECT_EQ(compressed(), one);
  EXPECT_EQ(TAUT_Comm_set_policy(comm, "abs:1e-2"), MPI_SUCCESS);
  EXPECT_EQ(comm.stats().calls, 1u);  // counted under all policies
  EXPECT_EQ(compressed(), 2 * one);
  EXPECT_EQ(TAUT_Comm_set_policy(comm, "off"), MPI_SUCCESS);
  EXPECT_EQ(compressed(), 2 * one);
  EXPECT_EQ(TAUT_Comm_set_policy(comm, nullptr), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Comm_set_policy(comm, ""), MPI_SUCCESS);
  EXPECT_EQ(compressed(), 2 * one);
  EXPECT_EQ(comm.stats().calls, 3u);
}

TEST(SetPolicy, IsInheritedByDuplicates) {
  const Comm comm("abs:1e-3");
  std::vector<float> x(100000, 1.0f), y(100000);
  const Comm copy(nullptr, comm), copy_of_copy(nullptr, copy);
  for (const Comm* c : {&copy_of_copy, &copy, &comm}) {
    EXPECT_EQ(TAUT_Allreduce(x.data(), y.data(), 100000, MPI_FLOAT, MPI_SUM, *c), MPI_SUCCESS);
    EXPECT_EQ(c->stats().compressed_calls, comm.size() > 1 ? 1u : 0u);
  }
}

// Private communicators are freed with the user's communicators; otherwise MPI would run out of communicator
// ids.
TEST(SetPolicy, ManyCommunicatorsComeAndGo) {
  std::vector<float> x(20000, 1.0f), y(20000);
  for (int i = 0; i < 100; ++i) {
    const Comm comm("abs:1e-3"), copy(nullptr, comm);
    ASSERT_EQ(TAUT_Allreduce(x.data(), y.data(), 20000, MPI_FLOAT, MPI_SUM, copy), MPI_SUCCESS);
  }
}

TEST(Stats, AreCutToTheCallersStruct) {
  const Comm comm("abs:1e-3");
  TAUT_Stats stats{};
  stats.struct_size = offsetof(TAUT_Stats, compressed_calls);
  stats.compressed_calls = 77;
  EXPECT_EQ(TAUT_Comm_get_stats(comm, &stats), MPI_SUCCESS);
  EXPECT_EQ(stats.compressed_calls, 77u);
  stats.struct_size = 0;
  EXPECT_EQ(TAUT_Error_status(TAUT_Comm_get_stats(comm, &stats)), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(TAUT_Error_status(TAUT_Comm_get_stats(comm, nullptr)), TAUT_ERR_ARGUMENT);
}

TEST(Stats, CountWhatWasSent) {
  const Comm comm("abs:1e-3,algorithm=ring,segments=1,codec=raw,nodes=off");
  const int P = comm.size();
  const std::size_t n = 60000 * static_cast<std::size_t>(P);
  std::vector<float> x(n, 1.0f), y(n);
  EXPECT_EQ(TAUT_Allreduce(x.data(), y.data(), static_cast<MPI_Count>(n), MPI_FLOAT, MPI_SUM, comm),
            MPI_SUCCESS);
  const TAUT_Stats s = comm.stats();
  if (P == 1) return;
  const auto p = static_cast<std::uint64_t>(P);
  std::uint64_t rounds = 0;
  while ((1u << rounds) < p) ++rounds;
  EXPECT_EQ(s.sent_messages, 2 * (p - 1) + rounds);
  EXPECT_EQ(s.sent_bytes, 2 * (p - 1) * (64 + 240000) + sizeof(AgreementMessage) * rounds);
  EXPECT_EQ(s.value_bytes, p * 240000);
  EXPECT_EQ(s.frame_bytes, p * (64 + 240000));
}

// ---- Calls that do not match

constexpr int n = 100000;

class Mismatch : public testing::Test {
 protected:
  // The last rank makes another call than the other ranks.
  template <class Usual, class Other>
  void expect_mismatch(Usual usual, Other other) {
    if (comm.size() < 2) return;
    const int code = comm.rank() == comm.size() - 1 ? other() : usual();
    EXPECT_EQ(TAUT_Error_status(code), TAUT_ERR_RANK_MISMATCH) << text_of(code);
    EXPECT_EQ(TAUT_Allreduce(x.data(), y.data(), n, MPI_DOUBLE, MPI_SUM, comm), MPI_SUCCESS);  // usable
  }
  int allreduce(int count, MPI_Datatype type, MPI_Op op) {
    return TAUT_Allreduce(x.data(), y.data(), count, type, op, comm);
  }

  const Comm comm{"abs:1e-3"};
  std::vector<double> x = std::vector<double>(n + 8, 1.0), y = x;
};

TEST_F(Mismatch, Count) {
  expect_mismatch([&] { return allreduce(n, MPI_DOUBLE, MPI_SUM); },
                  [&] { return allreduce(n + 1, MPI_DOUBLE, MPI_SUM); });
}
TEST_F(Mismatch, Type) {
  expect_mismatch([&] { return allreduce(n, MPI_DOUBLE, MPI_SUM); },
                  [&] { return allreduce(2 * n, MPI_FLOAT, MPI_SUM); });
}
TEST_F(Mismatch, Operator) {
  expect_mismatch([&] { return allreduce(n, MPI_DOUBLE, MPI_SUM); },
                  [&] { return allreduce(n, MPI_DOUBLE, MPI_MAX); });
}
TEST_F(Mismatch, OperatorThatIsNeverCompressed) {
  expect_mismatch([&] { return allreduce(n, MPI_DOUBLE, MPI_SUM); },
                  [&] { return allreduce(n, MPI_DOUBLE, MPI_PROD); });
}
TEST_F(Mismatch, TypeThatIsNeverCompressed) {
  expect_mismatch([&] { return allreduce(n, MPI_DOUBLE, MPI_SUM); },
                  [&] { return allreduce(2 * n, MPI_INT, MPI_SUM); });
}
TEST_F(Mismatch, Root) {
  expect_mismatch([&] { return TAUT_Bcast(x.data(), n, MPI_DOUBLE, 0, comm); },
                  [&] { return TAUT_Bcast(x.data(), n, MPI_DOUBLE, 1, comm); });
}
TEST_F(Mismatch, Call) {
  expect_mismatch([&] { return allreduce(n, MPI_DOUBLE, MPI_SUM); },
                  [&] { return TAUT_Bcast(x.data(), n, MPI_DOUBLE, 0, comm); });
}

TEST(Errors, ANullBufferIsReportedOnEveryRank) {
  const Comm comm("abs:1e-3");
  if (comm.size() < 2) return;
  std::vector<float> x(n), y(n);
  const bool culprit = comm.rank() == 1;
  const int code = TAUT_Allreduce(culprit ? nullptr : x.data(), y.data(), n, MPI_FLOAT, MPI_SUM, comm);
  EXPECT_EQ(TAUT_Error_status(code), culprit ? TAUT_ERR_ARGUMENT : TAUT_ERR_PEER);
}

// ---- The handler

MPI_Comm handled = MPI_COMM_NULL;
int handled_code = MPI_SUCCESS, handled_times = 0;

extern "C" void remember(MPI_Comm* comm, int* code, ...) {
  handled = *comm;
  handled_code = *code;
  ++handled_times;
}

TEST(Errors, CallTheHandlerOfTheUsersCommunicator) {
  const Comm comm("abs:1e-3");
  if (comm.size() < 2) return;
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(remember, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  std::vector<float> x(n + 1), y(n + 1);
  const int code =
      TAUT_Allreduce(x.data(), y.data(), n + (comm.rank() == 0 ? 1 : 0), MPI_FLOAT, MPI_SUM, comm);
  EXPECT_EQ(handled_times, 1);
  EXPECT_EQ(handled, static_cast<MPI_Comm>(comm));
  EXPECT_EQ(handled_code, code);
  EXPECT_EQ(TAUT_Error_status(code), TAUT_ERR_RANK_MISMATCH);
  MPI_Errhandler_free(&handler);
}

TEST(Errors, CodesOfMPIAreNotOurs) {
  EXPECT_EQ(TAUT_Error_status(MPI_SUCCESS), TAUT_SUCCESS);
  EXPECT_EQ(TAUT_Error_status(MPI_ERR_COUNT), TAUT_ERR_TRANSPORT);
}

}  // namespace errors_test
}  // namespace taut::test

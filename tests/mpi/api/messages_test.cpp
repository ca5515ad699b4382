// Tests of point-to-point messages: received values and statuses.
#include "mpi/api/messages.hpp"

namespace taut::test {
namespace {

// ---- Values and statuses

// Sends a rank's values once around the ring and checks the received values.
void go_round(const Comm& comm, DType type, std::size_t count, Pattern pattern, double bound) {
  const Ring ring(comm);
  const auto of = [&](int rank) {
    return make_values(type, count, pattern, static_cast<std::uint64_t>(rank) + count);
  };
  const Values sent = of(ring.rank), expected = of(ring.left);
  Values received(type, count + 3);
  const Values before = received;
  MPI_Status status;
  const int code =
      TAUT_Sendrecv(std::as_const(sent).slice().data, static_cast<MPI_Count>(count), mpi_type(type),
                    ring.right, 7, received.slice().data, static_cast<MPI_Count>(count + 3), mpi_type(type),
                    MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  ASSERT_EQ(code, MPI_SUCCESS) << error_text(code);
  EXPECT_EQ(status.MPI_SOURCE, ring.left);
  EXPECT_EQ(status.MPI_TAG, 7);
  EXPECT_EQ(count_of(status, mpi_type(type)), static_cast<int>(count));
  Values values(type, count);
  if (count != 0) std::memcpy(values.slice().data, received.slice().data, values.slice().bytes());
  if (bound == 0) {
    EXPECT_TRUE(values == expected);
  } else {
    EXPECT_LE(distance(values, expected), bound);
  }
  const std::size_t end = values.slice().bytes();
  EXPECT_EQ(std::memcmp(received.slice().as_bytes().data() + end, before.slice().as_bytes().data() + end,
                        received.slice().bytes() - end),
            0)
      << "written behind the message";
}

TEST(Messages, ArriveWithinTheBoundWithSourceTagAndCount) {
  const Comm comm("abs:1e-3");
  for (const DType type : {DType::f32, DType::f64, DType::c64})
    for (const std::size_t count : {0, 1, 12, 13, 14, 500, 8192, 8193, 20000, 400001})
      for (const Pattern pattern : {Pattern::smooth, Pattern::wild})
        go_round(comm, type, count, pattern, count * size_of(type) >= 65536 ? 1e-3 : 0);
  if (!alone(comm)) {
    EXPECT_GT(comm.stats().compressed_calls, 0u);
    EXPECT_GT(comm.stats().plain_no_gain, 0u);
    EXPECT_GT(comm.stats().plain_small, 0u);
  }
}

TEST(Messages, EveryKindOfBound) {
  for (const char* policy : {"lossless", "rel:1e-4,min_bytes=0", "psnr:80", "pwrel:1e-3", "snap:1e-3",
                             "abs:1e-3,codec=szx", "lossless,codec=raw", "abs:1e-3,checksum=on", "off"}) {
    const Comm comm(policy);
    const bool bounded = std::string(policy).find("abs:") == 0 || std::string(policy).find("snap") == 0;
    const bool exact = std::string(policy).find("lossless") == 0 || std::string(policy) == "off";
    for (const std::size_t count : {30, 30000})
      for (const Pattern pattern : {Pattern::smooth, Pattern::noisy, Pattern::steps})
        go_round(comm, DType::f32, count, pattern,
                 exact || count == 30 ? (exact || policy[0] == 'a' ? 0 : 1)
                 : bounded            ? 1e-3
                                      : 1);
  }
}

class IntegerMessages : public testing::TestWithParam<const char*> {};

TEST_P(IntegerMessages, AreCodedWithoutLossAndSoAreBytes) {
  const Comm comm(GetParam());
  for (const DType type : {DType::i8, DType::u16, DType::i32, DType::u64})
    go_round(comm, type, 100000, Pattern::steps, 0);
  std::vector<char> bytes(200000, 'x'), got(bytes.size());
  const Ring ring(comm);
  EXPECT_EQ(TAUT_Sendrecv(bytes.data(), 200000, MPI_BYTE, ring.right, 0, got.data(), 200000, MPI_CHAR,
                          ring.left, 0, comm, MPI_STATUS_IGNORE),
            MPI_SUCCESS);
  EXPECT_TRUE(bytes == got);
  if (!alone(comm)) {
    EXPECT_EQ(comm.stats().compressed_calls, 10u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, IntegerMessages,
                         testing::Values("lossless", "abs:100", "rel:0.5", "pwrel:0.5"));

TEST(Messages, NeedNoPolicy) {
  const Comm comm;
  go_round(comm, DType::f32, 50000, Pattern::smooth, 0);
}

// A duplicate has the policy at once, without a call of all ranks.
TEST(Messages, OnADuplicate) {
  const Comm comm("abs:1e-3"), copy(nullptr, comm);
  go_round(copy, DType::f32, 50000, Pattern::smooth, 1e-3);
  EXPECT_EQ(copy.stats().compressed_calls, alone(comm) ? 0u : 2u);
}

TEST(Messages, ValuesThatAreNoNumbersArriveAsSuch) {
  const Comm comm("abs:1e-3,codec=planes");
  const Ring ring(comm);
  std::vector<float> x(30000, 1.0f), y(x.size());
  x[5] = INFINITY;
  x[77] = -INFINITY;
  x[29999] = NAN;
  EXPECT_EQ(TAUT_Sendrecv(x.data(), 30000, MPI_FLOAT, ring.right, 0, y.data(), 30000, MPI_FLOAT, ring.left, 0,
                          comm, MPI_STATUS_IGNORE),
            MPI_SUCCESS);
  EXPECT_EQ(y[5], INFINITY);
  EXPECT_EQ(y[77], -INFINITY);
  EXPECT_TRUE(std::isnan(y[29999]));
  EXPECT_NEAR(y[100], 1, 1e-3);
}

// ---- Sources and destinations

TEST(Messages, ToNobodyAndFromNobody) {
  const Comm comm("abs:1e-3");
  std::vector<float> x(50000, 1.0f);
  MPI_Status status;
  EXPECT_EQ(TAUT_Send(x.data(), 50000, MPI_FLOAT, MPI_PROC_NULL, 3, comm), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Recv(x.data(), 50000, MPI_FLOAT, MPI_PROC_NULL, 3, comm, &status), MPI_SUCCESS);
  EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
  EXPECT_EQ(count_of(status, MPI_FLOAT), 0);
  TAUT_Request requests[2];
  EXPECT_EQ(TAUT_Irecv(x.data(), 50000, MPI_FLOAT, MPI_PROC_NULL, 3, comm, &requests[0]), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Isend(x.data(), 50000, MPI_FLOAT, MPI_PROC_NULL, 3, comm, &requests[1]), MPI_SUCCESS);
  MPI_Status statuses[2];
  EXPECT_EQ(TAUT_Waitall(2, requests, statuses), MPI_SUCCESS);
  EXPECT_EQ(statuses[0].MPI_SOURCE, MPI_PROC_NULL);
  int flag = 0;
  EXPECT_EQ(TAUT_Iprobe(MPI_PROC_NULL, 3, comm, &flag, &status), MPI_SUCCESS);
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(TAUT_Probe(MPI_PROC_NULL, 3, comm, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

TEST(Messages, ToOneself) {
  const Comm comm("abs:1e-3,min_bytes=1000");
  const int me = comm.rank();
  for (const int count : {0, 1, 100, 1000, 100000}) {
    std::vector<float> x(100000, static_cast<float>(me)), y(x.size()), z(x.size());
    TAUT_Request request;
    MPI_Status status;
    EXPECT_EQ(TAUT_Irecv(y.data(), 100000, MPI_FLOAT, me, 1, comm, &request), MPI_SUCCESS);
    EXPECT_EQ(TAUT_Send(x.data(), count, MPI_FLOAT, me, 1, comm), MPI_SUCCESS);
    EXPECT_EQ(TAUT_Wait(&request, &status), MPI_SUCCESS);
    EXPECT_EQ(count_of(status, MPI_FLOAT), count);
    EXPECT_EQ(
        TAUT_Sendrecv(x.data(), count, MPI_FLOAT, me, 2, z.data(), count, MPI_FLOAT, me, 2, comm, &status),
        MPI_SUCCESS);
    for (int i = 0; i < count; ++i)
      ASSERT_TRUE(std::abs(y[static_cast<std::size_t>(i)] - x[0]) <= 1e-3 &&
                  std::abs(z[static_cast<std::size_t>(i)] - x[0]) <= 1e-3);
  }
}

TEST(Messages, GreatestTag) {
  const Comm comm("abs:1e-3");
  const Ring ring(comm);
  int *upper = nullptr, found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&upper), &found);
  ASSERT_NE(found, 0);
  std::vector<float> x(50000, 1.0f), y(x.size());
  for (const int count : {1, 50000}) {
    MPI_Status status;
    EXPECT_EQ(TAUT_Sendrecv(x.data(), count, MPI_FLOAT, ring.right, *upper, y.data(), count, MPI_FLOAT,
                            ring.left, *upper, comm, &status),
              MPI_SUCCESS);
    EXPECT_EQ(status.MPI_TAG, *upper);
  }
}

TEST(Messages, ArgumentsAreForMpiToComplainAbout) {
  const Comm comm("abs:1e-3");
  std::vector<float> x(50000, 1.0f);
  EXPECT_EQ(class_of(TAUT_Send(x.data(), 50000, MPI_FLOAT, comm.size(), 0, comm)), MPI_ERR_RANK);
  EXPECT_EQ(class_of(TAUT_Recv(x.data(), 10, MPI_FLOAT, comm.size(), 0, comm, MPI_STATUS_IGNORE)),
            MPI_ERR_RANK);
  EXPECT_EQ(class_of(TAUT_Send(x.data(), -1, MPI_FLOAT, 0, 0, comm)), MPI_ERR_COUNT);
  EXPECT_EQ(class_of(TAUT_Send(x.data(), 1, MPI_DATATYPE_NULL, 0, 0, comm)), MPI_ERR_TYPE);
  EXPECT_EQ(class_of(TAUT_Send(x.data(), 1, MPI_FLOAT, 0, -5, comm)), MPI_ERR_TAG);
  EXPECT_EQ(class_of(TAUT_Sendrecv(x.data(), 1, MPI_FLOAT, comm.size(), 0, x.data() + 1, 1, MPI_FLOAT, 0, 0,
                                   comm, MPI_STATUS_IGNORE)),
            MPI_ERR_RANK);
  EXPECT_EQ(TAUT_Error_status(TAUT_Isend(x.data(), 1, MPI_FLOAT, 0, 0, comm, nullptr)), TAUT_ERR_ARGUMENT);
  go_round(comm, DType::f32, 50000, Pattern::smooth, 1e-3);
}

// ---- Statistics

TEST(Messages, AreExplained) {
  const Comm comm("abs:1e-3,codec=planes");
  if (alone(comm)) return;
  go_round(comm, DType::f32, 100000, Pattern::smooth, 1e-3);
  go_round(comm, DType::f32, 3, Pattern::smooth, 0);
  char text[2000];
  EXPECT_EQ(TAUT_Comm_explain(comm, text, sizeof text, nullptr), MPI_SUCCESS);
  const std::string told = text;
  for (const char* part : {"send f32 256KiB", "recv f32 256KiB", "compressed by planes", "one_message",
                           "send f32 8B", "1 plain (below min_bytes)"})
    EXPECT_NE(told.find(part), std::string::npos) << part << " is not in\n" << told;
  const TAUT_Stats stats = comm.stats();
  EXPECT_EQ(stats.calls, 4u);
  EXPECT_EQ(stats.compressed_calls, 2u);
  EXPECT_EQ(stats.sent_messages, 1u);
  EXPECT_EQ(stats.value_bytes, 400000u);
  EXPECT_GT(stats.frame_bytes, 0u);
  EXPECT_LT(stats.sent_bytes, 200000u);
  EXPECT_GT(stats.decode_ns, 0u);
  EXPECT_EQ(stats.call_ns, stats.encode_ns + stats.decode_ns + stats.wait_ns + stats.agree_ns +
                               stats.plain_ns + stats.combine_ns);
}

}  // namespace
}  // namespace taut::test

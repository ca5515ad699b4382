// Tests of requests: order, completion, errors, and requests or communicators that are freed early.
#include <thread>

#include "mpi/api/world.hpp"

namespace taut::test {
namespace {

// Sums of floats on one communicator.
class Sums {
 public:
  Sums(const Comm& comm, std::size_t calls, std::size_t count = 40000, Pattern pattern = Pattern::smooth)
      : comm_(comm), requests(calls, TAUT_REQUEST_NULL) {
    for (std::size_t i = 0; i < calls; ++i)
      jobs_.push_back(
          std::make_unique<Job>(Collective::allreduce, comm.size(), count, DType::f32, pattern, i));
  }
  int start(std::size_t i, MPI_Op op = MPI_SUM) {
    return TAUT_Iallreduce(in(i), out(i), static_cast<MPI_Count>(jobs_[i]->count()), MPI_FLOAT, op, comm_,
                           &requests[i]);
  }
  void start_all() {
    for (std::size_t i = 0; i < requests.size(); ++i) ASSERT_EQ(start(i), MPI_SUCCESS);
  }
  void expect_all(double bound) {
    for (const auto& job : jobs_) EXPECT_EQ(job->check(comm_.rank(), bound, 2 * comm_.size()), "");
  }
  const void* in(std::size_t i) const { return std::as_const(jobs_[i]->inputs[rank()]).slice().data; }
  void* out(std::size_t i) const { return jobs_[i]->outputs[rank()].slice().data; }

 private:
  std::size_t rank() const { return static_cast<std::size_t>(comm_.rank()); }
  const Comm& comm_;
  std::vector<std::unique_ptr<Job>> jobs_;

 public:
  std::vector<TAUT_Request> requests;
};

TEST(Requests, OneRankWaitsForTheFirstAndAnotherForTheLast) {
  const Comm a("abs:1e-3"), b("abs:1e-3");
  Sums on_a(a, 3), on_b(b, 3, 40000, Pattern::wild);  // these fall back
  on_a.start_all();
  on_b.start_all();
  const bool even = a.rank() % 2 == 0;
  for (Sums* const sums : even ? std::vector{&on_a, &on_b} : std::vector{&on_b, &on_a})
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(TAUT_Wait(&sums->requests[even ? i : 2 - i], MPI_STATUS_IGNORE), MPI_SUCCESS);
  on_a.expect_all(1e-3);
  on_b.expect_all(0);
}

// Some ranks complete a call first; others first enter a blocking call, which is compressed, or falls back by
// agreement or at once.
TEST(Requests, BlockingCallsDoNotHoldUpThoseInFlight) {
  const Comm comm("abs:1e-3");
  for (const auto& [count, pattern] :
       {std::pair{40000, Pattern::smooth}, {40000, Pattern::wild}, {100, Pattern::smooth}}) {
    Sums sums(comm, 2), blocking(comm, 1, static_cast<std::size_t>(count), pattern);
    sums.start_all();
    auto block = [&] {
      EXPECT_EQ(TAUT_Allreduce(blocking.in(0), blocking.out(0), count, MPI_FLOAT, MPI_SUM, comm),
                MPI_SUCCESS);
    };
    if (comm.rank() % 2 == 0) block();
    for (TAUT_Request& request : sums.requests)
      EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (comm.rank() % 2 != 0) block();
    sums.expect_all(1e-3);
    blocking.expect_all(1e-3);
  }
}

TEST(Requests, MoreThanThereAreLanesFor) {
  const Comm comm("abs:1e-3,min_bytes=0,codec=planes");
  Sums sums(comm, 200, 500);
  sums.start_all();
  for (std::size_t i = 200; i-- > 0;) EXPECT_EQ(TAUT_Wait(&sums.requests[i], MPI_STATUS_IGNORE), MPI_SUCCESS);
  sums.expect_all(1e-3);
}

// Types and operators may be freed at once, also if the call falls back later.
TEST(Requests, TypesAndOperatorsMayBeFreedAtOnce) {
  const Comm comm("abs:1e-3");
  MPI_Datatype row;
  MPI_Type_contiguous(1000, MPI_FLOAT, &row);
  MPI_Type_commit(&row);
  MPI_Op larger;
  MPI_Op_create(
      [](void* in, void* inout, int* n, MPI_Datatype*) {
        for (int i = 0; i < *n; ++i)
          static_cast<float*>(inout)[i] = std::max(static_cast<float*>(inout)[i], static_cast<float*>(in)[i]);
      },
      1, &larger);
  std::vector<float> moved(40000, static_cast<float>(comm.rank())), mine = moved, most(40000);
  TAUT_Request requests[3];
  EXPECT_EQ(TAUT_Ibcast(moved.data(), 40, row, 0, comm, &requests[0]), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Iallreduce(mine.data(), most.data(), 40000, MPI_FLOAT, larger, comm, &requests[1]),
            MPI_SUCCESS);
  std::vector<float> again(40000, static_cast<float>(comm.rank()));
  EXPECT_EQ(TAUT_Bcast_init(again.data(), 40, row, 0, comm, MPI_INFO_NULL, &requests[2]), MPI_SUCCESS);
  MPI_Type_free(&row);
  MPI_Op_free(&larger);
  EXPECT_EQ(TAUT_Start(&requests[2]), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Waitall(3, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Request_free(&requests[2]), MPI_SUCCESS);
  EXPECT_TRUE(moved == std::vector<float>(40000, 0.0f));
  EXPECT_TRUE(again == std::vector<float>(40000, 0.0f));
  EXPECT_TRUE(most == std::vector<float>(40000, static_cast<float>(comm.size() - 1)));
}

// ---- Completion

TEST(Requests, TestallChangesNothingUntilAllAreComplete) {
  const Comm comm("abs:1e-3");
  Sums sums(comm, 3);
  sums.start_all();
  const std::vector<TAUT_Request> before = sums.requests;
  int flag = 0;
  while (flag == 0) {
    EXPECT_TRUE(sums.requests == before);
    ASSERT_EQ(TAUT_Testall(3, sums.requests.data(), &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  }
  EXPECT_TRUE(sums.requests == std::vector<TAUT_Request>(3, TAUT_REQUEST_NULL));
  sums.expect_all(1e-3);
}

TEST(Requests, WaitanyGivesEachOnce) {
  const Comm comm("abs:1e-3");
  Sums sums(comm, 4);
  sums.start_all();
  std::vector<int> seen(4);
  for (int i = 0, index = -1; i < 4; ++i) {
    ASSERT_EQ(TAUT_Waitany(4, sums.requests.data(), &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_TRUE(index >= 0 && index < 4);
    ++seen[static_cast<std::size_t>(index)];
  }
  EXPECT_TRUE(seen == std::vector<int>(4, 1));
  int index = -1;
  MPI_Status status;
  EXPECT_EQ(TAUT_Waitany(4, sums.requests.data(), &index, &status), MPI_SUCCESS);
  EXPECT_EQ(index, MPI_UNDEFINED);
  sums.expect_all(1e-3);
}

TEST(Requests, NullAndInactiveOnesAreComplete) {
  TAUT_Request none = TAUT_REQUEST_NULL;
  int flag = 0;
  MPI_Status status;
  EXPECT_EQ(TAUT_Wait(&none, &status), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Test(&none, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(TAUT_Waitall(0, nullptr, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Request_free(&none), MPI_SUCCESS);
}

TEST(Requests, OnlyInactivePersistentOnesCanBeStarted) {
  const Comm comm("abs:1e-3");
  Sums sums(comm, 1);
  ASSERT_EQ(sums.start(0), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Error_status(TAUT_Start(&sums.requests[0])), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(TAUT_Wait(&sums.requests[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
  TAUT_Request again = TAUT_REQUEST_NULL;
  ASSERT_EQ(
      TAUT_Allreduce_init(sums.in(0), sums.out(0), 40000, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &again),
      MPI_SUCCESS);
  ASSERT_EQ(TAUT_Startall(1, &again), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Error_status(TAUT_Start(&again)), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(TAUT_Wait(&again, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Request_free(&again), MPI_SUCCESS);
  EXPECT_EQ(
      TAUT_Error_status(TAUT_Iallreduce(sums.in(0), sums.out(0), 40000, MPI_FLOAT, MPI_SUM, comm, nullptr)),
      TAUT_ERR_ARGUMENT);
}

// ---- Errors come when a call is completed, on every rank

TEST(Requests, AMismatchIsAnErrorOfThatCallOnEveryRank) {
  const Comm comm("abs:1e-3");
  if (comm.size() < 2) return;
  Sums sums(comm, 3);
  for (std::size_t i = 0; i < 3; ++i)
    ASSERT_EQ(sums.start(i, i == 1 && comm.rank() == 0 ? MPI_MAX : MPI_SUM), MPI_SUCCESS);
  MPI_Status statuses[3];
  EXPECT_EQ(TAUT_Waitall(3, sums.requests.data(), statuses), MPI_ERR_IN_STATUS);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(TAUT_Error_status(statuses[i].MPI_ERROR), i == 1 ? TAUT_ERR_RANK_MISMATCH : TAUT_SUCCESS);
  ASSERT_EQ(sums.start(1), MPI_SUCCESS);  // the communicator remains usable
  EXPECT_EQ(TAUT_Wait(&sums.requests[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
  sums.expect_all(1e-3);
}

TEST(Requests, ANullBufferIsReportedOnEveryRank) {
  const Comm comm("abs:1e-3");
  if (comm.size() < 2) return;
  std::vector<float> x(40000), y(40000);
  const bool culprit = comm.rank() == 1;
  TAUT_Request request = TAUT_REQUEST_NULL;
  EXPECT_EQ(
      TAUT_Iallreduce(culprit ? nullptr : x.data(), y.data(), 40000, MPI_FLOAT, MPI_SUM, comm, &request),
      MPI_SUCCESS);
  const int code = TAUT_Waitall(1, &request, MPI_STATUSES_IGNORE);
  EXPECT_EQ(TAUT_Error_status(code), culprit ? TAUT_ERR_ARGUMENT : TAUT_ERR_PEER);
  EXPECT_EQ(request, TAUT_REQUEST_NULL);
}

// Each thread has a communicator of its own; a thread that waits progresses the calls of both.
TEST(Requests, TwoThreads) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI is for one thread";
  const Comm a("abs:1e-3"), b("abs:1e-3");
  const auto work = [](const Comm& comm) {
    for (int round = 0; round < 5; ++round) {
      Sums sums(comm, 4, 20000, round % 2 == 0 ? Pattern::smooth : Pattern::wild), blocking(comm, 1);
      sums.start_all();
      EXPECT_EQ(TAUT_Allreduce(blocking.in(0), blocking.out(0), 40000, MPI_FLOAT, MPI_SUM, comm),
                MPI_SUCCESS);
      EXPECT_EQ(TAUT_Waitall(4, sums.requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
      sums.expect_all(1e-3);
      blocking.expect_all(1e-3);
    }
  };
  std::thread other(work, std::cref(b));
  work(a);
  other.join();
}

// ---- Requests and communicators that are freed early

TEST(Requests, FreedBeforeCompletion) {
  const Comm comm("abs:1e-3");
  Sums sums(comm, 2);
  sums.start_all();
  for (TAUT_Request& request : sums.requests) EXPECT_EQ(TAUT_Request_free(&request), MPI_SUCCESS);
  sums.expect_all(1e-3);
}

TEST(Requests, TheCommunicatorIsFreedFirst) {
  std::vector<float> x(40000, 1.0f), y(40000), z(40000);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  EXPECT_EQ(TAUT_Comm_set_policy(comm, "abs:1e-3,codec=planes"), MPI_SUCCESS);
  TAUT_Request request = TAUT_REQUEST_NULL, again = TAUT_REQUEST_NULL;
  EXPECT_EQ(TAUT_Iallreduce(x.data(), y.data(), 40000, MPI_FLOAT, MPI_SUM, comm, &request), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Allreduce_init(x.data(), z.data(), 40000, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &again),
            MPI_SUCCESS);
  MPI_Comm_free(&comm);
  EXPECT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_NEAR(y[12345], size_of_comm(MPI_COMM_WORLD), 1e-3);
  const int code = TAUT_Start(&again);  // without interception this is MPI's own request, which progresses
  if (size_of_comm(MPI_COMM_WORLD) > 1 || code != MPI_SUCCESS) {
    EXPECT_EQ(TAUT_Error_status(code), TAUT_ERR_ARGUMENT);
  } else {
    EXPECT_EQ(TAUT_Wait(&again, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  EXPECT_EQ(TAUT_Request_free(&again), MPI_SUCCESS);
}

// Private communicators are freed with the last request: an MPI library has a few thousand of them.
TEST(Requests, CommunicatorsThatAreFreedFirstDoNotLeak) {
  const int times = size_of_comm(MPI_COMM_WORLD) <= 2 ? 3000 : 20;
  std::vector<float> x(1000, 1.0f), y(1000);
  for (int i = 0; i < times; ++i) {
    MPI_Comm comm;
    ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
    ASSERT_EQ(TAUT_Comm_set_policy(comm, "abs:1e-3,codec=planes,min_bytes=0"), MPI_SUCCESS);
    TAUT_Request request = TAUT_REQUEST_NULL;
    ASSERT_EQ(TAUT_Iallreduce(x.data(), y.data(), 1000, MPI_FLOAT, MPI_SUM, comm, &request), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    ASSERT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
}

TEST(Requests, ThePolicyIsReplacedMeanwhile) {
  const Comm comm("abs:1e-3");
  Sums sums(comm, 2);
  TAUT_Request kept = TAUT_REQUEST_NULL;
  ASSERT_EQ(
      TAUT_Allreduce_init(sums.in(1), sums.out(1), 40000, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &kept),
      MPI_SUCCESS);
  ASSERT_EQ(sums.start(0), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Comm_set_policy(comm, "lossless,codec=raw"), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Start(&kept), MPI_SUCCESS);  // under the policy at its creation
  EXPECT_EQ(TAUT_Wait(&sums.requests[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Wait(&kept, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Request_free(&kept), MPI_SUCCESS);
  EXPECT_EQ(comm.stats().calls, 1u);  // a persistent request counts for itself
  sums.expect_all(1e-3);
}

TEST(Requests, OnADuplicateThatHasNoPrivateCommunicatorYet) {
  const Comm comm("abs:1e-3"), copy(nullptr, comm);
  Sums sums(copy, 3);
  sums.start_all();
  EXPECT_EQ(TAUT_Waitall(3, sums.requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(copy.stats().compressed_calls, copy.size() > 1 ? 3u : 0u);
  sums.expect_all(1e-3);
}

TEST(Requests, Intercommunicators) {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of_comm(MPI_COMM_WORLD);
  if (size < 2) return;
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 99, &inter);
  EXPECT_EQ(TAUT_Comm_set_policy(inter, "abs:1e-1"), MPI_SUCCESS);
  const std::vector<double> x(50000, rank % 2 + 1.0);
  std::vector<double> got(50000), again(50000);
  TAUT_Request requests[2];
  EXPECT_EQ(TAUT_Iallreduce(x.data(), got.data(), 50000, MPI_DOUBLE, MPI_MAX, inter, &requests[0]),
            MPI_SUCCESS);
  EXPECT_EQ(TAUT_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Allreduce_init(x.data(), again.data(), 50000, MPI_DOUBLE, MPI_MAX, inter, MPI_INFO_NULL,
                                &requests[1]),
            MPI_SUCCESS);
  EXPECT_EQ(TAUT_Start(&requests[1]), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Wait(&requests[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Request_free(&requests[1]), MPI_SUCCESS);
  const std::vector<double> want(50000, 2.0 - rank % 2);  // values of the other group
  EXPECT_TRUE(got == want && again == want);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

}  // namespace
}  // namespace taut::test

// Tests of special conditions around calls (docs/testing.md, the traps of MPI).
#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>

#include <functional>
#include <numeric>

#include "world.hpp"

namespace taut::test {
namespace traps_test {

constexpr int count = 100000;

// Makes compressed sums and checks the results.
void expect_sums(const Comm& comm, int calls) {
  std::vector<float> x(count), y(count);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1000) * 0.01F;
  for (int k = 0; k < calls; ++k) {
    ASSERT_EQ(TAUT_Allreduce(x.data(), y.data(), count, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
    for (std::size_t i = 0; i < x.size(); i += 37)
      ASSERT_NEAR(y[i], x[i] * static_cast<float>(comm.size()), 1e-3 + 1e-6 * comm.size() * 10);
  }
}

// Packed data are opaque: their bytes have any values.
TEST(Traps, PackedDataComeAsTheyWere) {
  const Comm comm("abs:1e3,when=always,min_bytes=0");
  std::vector<char> packed(80000);
  int end = 0;
  const std::vector<double> values(10000, 1.25);
  MPI_Pack(values.data(), 10000, MPI_DOUBLE, packed.data(), 80000, &end, comm);
  const std::vector<char> sent = packed;
  if (comm.rank() != 0) packed.assign(packed.size(), 0);
  ASSERT_EQ(TAUT_Bcast(packed.data(), end, MPI_PACKED, 0, comm), MPI_SUCCESS);
  EXPECT_TRUE(std::equal(packed.begin(), packed.begin() + end, sent.begin()));
}

TEST(Traps, CommunicatorsMayBeDisconnected) {
  for (int i = 0; i < 20; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ASSERT_EQ(TAUT_Comm_set_policy(comm, "abs:1e-3"), MPI_SUCCESS);
    std::vector<float> x(count, 1), y(count);
    ASSERT_EQ(TAUT_Allreduce(x.data(), y.data(), count, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
    EXPECT_EQ(MPI_Comm_disconnect(&comm), MPI_SUCCESS);
    EXPECT_EQ(comm, MPI_COMM_NULL);
  }
}

std::atomic<int> signals{0};

// Needs 10 GB on two ranks.
TEST(Traps, CountsBeyondInt) {
  if (std::getenv("TAUT_BIG") == nullptr) GTEST_SKIP() << "unless TAUT_BIG is set";
  const Comm comm("lossless,codec=mpc,when=always");
  const MPI_Count n = (MPI_Count{1} << 31) + 12345;
  std::vector<signed char> values(static_cast<std::size_t>(n));
  if (comm.rank() == 0)
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<signed char>(i / 1000 + i % 3);
  ASSERT_EQ(TAUT_Bcast(values.data(), n, MPI_SIGNED_CHAR, 0, comm), MPI_SUCCESS);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], static_cast<signed char>(i / 1000 + i % 3)) << i;
  if (comm.size() > 1) {
    EXPECT_EQ(comm.stats().compressed_calls, 1u);
  }
}

// A profiler's timer interrupts system calls and all other code.
TEST(Traps, SignalsInterruptNothing) {
  const Comm comm("abs:1e-3,when=always");
  struct sigaction ours {
  }, before{};
  ours.sa_handler = [](int) { ++signals; };
  sigaction(SIGALRM, &ours, &before);
  const itimerval each{{0, 500}, {0, 500}}, never{};
  setitimer(ITIMER_REAL, &each, nullptr);
  expect_sums(comm, 30);
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_GT(signals, 0);
}

// Forks a child that exits at once, between calls and with a call in flight.
TEST(Traps, ForksBetweenCallsAreHarmless) {
  const Comm comm("abs:1e-3,when=always");
  expect_sums(comm, 1);
  std::vector<float> x(count, 1), y(count);
  TAUT_Request request = TAUT_REQUEST_NULL;
  ASSERT_EQ(TAUT_Iallreduce(x.data(), y.data(), count, MPI_FLOAT, MPI_SUM, comm, &request), MPI_SUCCESS);
  const pid_t child = fork();
  if (child == 0) _exit(7);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  ASSERT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_NEAR(y[count / 2], static_cast<float>(comm.size()), 1e-3);
  expect_sums(comm, 1);
}

// Runs `work` on a thread with a stack of this many bytes.
void on_stack_of(std::size_t bytes, std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  const auto run = [](void* what) -> void* {
    (*static_cast<std::function<void()>*>(what))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Traps, SmallStacksAreEnough) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED) GTEST_SKIP() << "MPI serves the main thread alone";
  for (const char* policy :
       {"abs:1e-3,when=always", "abs:1e-3,codec=szx", "lossless,codec=mpc,when=always"}) {
    const Comm comm(policy);
    on_stack_of(std::size_t{256} << 10, [&] { expect_sums(comm, 2); });
  }
}

}  // namespace traps_test
}  // namespace taut::test

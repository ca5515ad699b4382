// Tests under MPI_THREAD_MULTIPLE: several threads, each with its own communicators, on which it makes any
// calls that a program of one thread may make.
//   TEST_SEED=4711 TEST_COUNT=1 mpiexec -n 2 api_test --gtest_filter='ThreadsOfAProgram.*'    one again
#include <thread>

#include "mpi/api/mixture.hpp"

namespace taut::test {
namespace {

class ThreadsOfAProgram : public testing::Test {
 protected:
  static constexpr int threads = 4;

  void SetUp() override {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
    for (int t = 0; t < threads; ++t) parents_.push_back(std::make_unique<Comm>());
  }

  // Runs work(number of the thread, its communicator) on each thread.
  template <class Work>
  void run_threads(Work work) {
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t)
      others.emplace_back([&, t] { work(t, *parents_[static_cast<std::size_t>(t)]); });
    work(0, *parents_[0]);
    for (std::thread& other : others) other.join();
  }

 private:
  std::vector<std::unique_ptr<Comm>> parents_;
};

TEST_F(ThreadsOfAProgram, MixturesOfCallsAndMessages) {
  run_threads([](int thread, const Comm& parent) {
    SCOPED_TRACE(testing::Message() << "thread " << thread);
    for_each_seed(size_of_comm(MPI_COMM_WORLD) > 3 ? 1 : 4, [&](std::uint64_t seed) {
      MixtureOfCalls(seed * 100 + static_cast<std::uint64_t>(thread), parent).run();
    });
  });
}

// Threads set policies, read statistics and create and free communicators during the calls of other threads.
TEST_F(ThreadsOfAProgram, CommunicatorsComeAndGo) {
  run_threads([&](int thread, const Comm& parent) {
    constexpr const char* policies[] = {"abs:1e-3,codec=planes,min_bytes=0", "lossless,min_bytes=0",
                                        "rel:1e-4,when=always,min_bytes=0"};
    for (int i = 0; i < 6; ++i) {
      const Comm comm(policies[(i + thread) % 3], parent), copy(nullptr, comm);
      for (const Comm* const on : {&comm, &copy}) {
        Job job(Collective::allgather, on->size(), 3000, DType::f32, Pattern::smooth, 1);
        ASSERT_EQ(call(Collective::allgather, job, DType::f32, MPI_SUM, 0, false, *on), MPI_SUCCESS);
        ASSERT_EQ(job.check(on->rank(), 1e-2, 0), "");
        ASSERT_EQ(on->stats().calls, 1u);
        char text[400];
        ASSERT_EQ(TAUT_Comm_explain(*on, text, sizeof text, nullptr), MPI_SUCCESS);
      }
      ASSERT_EQ(TAUT_Comm_set_policy(copy, nullptr), MPI_SUCCESS);
    }
  });
}

}  // namespace
}  // namespace taut::test

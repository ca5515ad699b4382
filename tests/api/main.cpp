// Main program of the MPI tests: every rank runs them all; the run fails when one rank fails.
#include <gtest/gtest.h>
#include <taut/taut.h>

#include <vector>

// A policy that is still in force at MPI_Finalize must not be in its way.
static int leave_a_policy_on_the_world() {
  std::vector<float> x(100000, 1), y(x.size());
  const int set = TAUT_Comm_set_policy(MPI_COMM_WORLD, "abs:1e-3");
  return set != MPI_SUCCESS ? set
                            : TAUT_Allreduce(x.data(), y.data(), 100000, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  class Failures final : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& result) override {
      int here = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &here);
      if (result.failed())
        std::printf("rank %d: %s:%d: %s\n", here, result.file_name(), result.line_number(), result.summary());
    }
  };
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures);
  }
  int failed = RUN_ALL_TESTS() != 0 || leave_a_policy_on_the_world() != MPI_SUCCESS, any = 0;
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any;
}

// Main program of the MPI tests: every rank runs them all; the run fails if one rank fails.
#include <gtest/gtest.h>
#include <taut/taut.h>

#include <vector>

// A policy in force, and calls in flight that some ranks wait for, must not disturb MPI_Finalize.
static std::vector<float> x(100000, 1), y(x.size()), z(x.size());

static int leave_a_policy_on_the_world(int rank) {
  TAUT_Request left = TAUT_REQUEST_NULL, waited_for = TAUT_REQUEST_NULL;
  TAUT_Request* const last = rank % 2 == 0 ? &left : &waited_for;
  int code = TAUT_Comm_set_policy(MPI_COMM_WORLD, "abs:1e-3");
  if (code == MPI_SUCCESS)
    code = TAUT_Allreduce(x.data(), y.data(), 100000, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  if (code == MPI_SUCCESS)
    code = TAUT_Iallreduce(x.data(), z.data(), 100000, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, last);
  return code == MPI_SUCCESS ? TAUT_Wait(&waited_for, MPI_STATUS_IGNORE) : code;
}

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
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
  int failed = RUN_ALL_TESTS() != 0, any = 0;
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  any |= leave_a_policy_on_the_world(rank) != MPI_SUCCESS;
  MPI_Finalize();
  return any;
}

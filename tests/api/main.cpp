// Main program of the MPI tests: every rank runs them all; the run fails when one rank fails.
#include <gtest/gtest.h>
#include <mpi.h>

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
  int failed = RUN_ALL_TESTS(), any = 0;
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any;
}

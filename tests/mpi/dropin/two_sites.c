/* Exchanges of small numbers at one call site and of random ones at another; two ranks. */
#include <mpi.h>
#include <stdint.h>

enum { count = 1 << 17, times = 3 };
static double steps[count], noise[count], got[count];

int main(int argc, char** argv) {
  uint64_t random = 1;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < count; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    steps[i] = i % 1000 / 8.0;
    noise[i] = (double)(random >> 11) / (double)(UINT64_C(1) << 53);
  }
  for (int k = 0; k < times; ++k) {
    MPI_Alltoall(steps, count / 2, MPI_DOUBLE, got, count / 2, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Alltoall(noise, count / 2, MPI_DOUBLE, got, count / 2, MPI_DOUBLE, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}

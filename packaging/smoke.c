/* An unchanged MPI program: sums a wave over all ranks and checks the sum. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { count = 1000000 };

int main(int argc, char** argv) {
  int rank, size, failed = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  float* values = malloc(count * sizeof *values);
  for (int i = 0; i < count; ++i) values[i] = sinf(1e-3f * (float)i) + (float)rank;
  MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    const double exact = size * (double)sinf(1e-3f * (float)i) + size * (size - 1) / 2.0;
    if (fabs(values[i] - exact) > 1.01e-3) failed = 1;
  }
  if (failed) printf("rank %d: a sum is beyond the bound\n", rank);
  free(values);
  MPI_Finalize();
  return failed;
}

/* Makes ten sums that Taut can compress; rank 0 prints the error of the last one. */
#include <mpi.h>
#include <stdio.h>

enum { count = 100000 };
static float x[count], sum[count];

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  double worst = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < count; ++i) x[i] = (float)(i % 997) * 0.37F;
  for (int k = 0; k < 10; ++k) MPI_Allreduce(x, sum, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    const double off = sum[i] - (double)x[i] * size;
    worst = off > worst ? off : -off > worst ? -off : worst;
  }
  if (rank == 0) printf("worst: %g\n", worst);
  MPI_Finalize();
  return 0;
}

/* A program of plain MPI that sums over all ranks in a loop and prints the seconds of a call.

     calls BYTES CALLS PAUSE_US    each call after so many microseconds of computing; prints seconds a call */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double compute(double seconds) {
  double x = 1;
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
    for (int i = 0; i < 100; ++i) x = x * 1.0000001 + 1e-9;
  return x;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) return fputs("calls BYTES CALLS PAUSE_US\n", stderr), 2;
  const int count = atoi(argv[1]) / (int)sizeof(float), calls = atoi(argv[2]);
  const double pause = atof(argv[3]) * 1e-6;
  float* const x = calloc((size_t)count + 1, sizeof *x);
  float* const y = calloc((size_t)count + 1, sizeof *y);
  int rank = 0;
  double sink = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < count; ++i) x[i] = (float)(i % 1000) * 0.001F;
  for (int i = 0; i < 100; ++i) MPI_Allreduce(x, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) {
    if (pause > 0) sink += compute(pause);
    MPI_Allreduce(x, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  const double each = (MPI_Wtime() - begin) / calls;
  if (rank == 0) printf("%.6g\n", sink < 0 ? 0 : each);
  free(x);
  free(y);
  MPI_Finalize();
  return 0;
}

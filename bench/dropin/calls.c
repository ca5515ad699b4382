/* A program of plain MPI that repeats one call and prints the seconds of a call.

     calls sum|message BYTES CALLS PAUSE_US

   sum: over all ranks; message: from the first rank to the second and back. PAUSE_US: microseconds of
   computing before each call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double compute(double seconds) {
  double x = 1;
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
    for (int i = 0; i < 100; ++i) x = x * 1.0000001 + 1e-9;
  return x;
}

static void sum(float* x, float* y, int count, int rank) {
  (void)rank;
  MPI_Allreduce(x, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void message(float* x, float* y, int count, int rank) {
  if (rank == 0) MPI_Send(x, count, MPI_FLOAT, 1, 7, MPI_COMM_WORLD);
  if (rank < 2) MPI_Recv(y, count, MPI_FLOAT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(x, count, MPI_FLOAT, 0, 7, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 5) return fputs("calls sum|message BYTES CALLS PAUSE_US\n", stderr), 2;
  void (*const call)(float*, float*, int, int) = strcmp(argv[1], "message") == 0 ? message : sum;
  const int count = atoi(argv[2]) / (int)sizeof(float), calls = atoi(argv[3]);
  const double pause = atof(argv[4]) * 1e-6;
  float* const x = calloc((size_t)count + 1, sizeof *x);
  float* const y = calloc((size_t)count + 1, sizeof *y);
  int rank = 0;
  double sink = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < count; ++i) x[i] = (float)(i % 1000) * 0.001F;
  for (int i = 0; i < 100; ++i) call(x, y, count, rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) {
    if (pause > 0) sink += compute(pause);
    call(x, y, count, rank);
  }
  const double each = (MPI_Wtime() - begin) / calls;
  if (rank == 0) printf("%.6g\n", sink < 0 ? 0 : each);
  free(x);
  free(y);
  MPI_Finalize();
  return 0;
}

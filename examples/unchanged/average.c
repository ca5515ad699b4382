/* A program of plain MPI whose ranks average fields repeatedly, as iterative solvers and parallel training
   do. Rank 0 prints the time and the distance of the averages from the exact ones. It is built without Taut;
   `taut run` preloads Taut (run.sh).

     average [VALUES [ROUNDS]]     default: 4194304 floats, 5 rounds */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Value i of rank r: waves that all ranks share, and a small part of its own. */
static double value(int r, long i) {
  return sin(1e-3 * (double)i) + 0.5 * sin(1.7e-4 * (double)i) + 1e-3 * sin(0.37 * (double)(i + 7 * r));
}

static double exact_mean(int size, long i) {
  double sum = 0;
  for (int r = 0; r < size; ++r) sum += value(r, i);
  return sum / size;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long n = argc > 1 ? atol(argv[1]) : 4194304;
  const int rounds = argc > 2 ? atoi(argv[2]) : 5;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  float* const mine = malloc(sizeof(float) * (size_t)n);
  float* const sum = malloc(sizeof(float) * (size_t)n);
  if (n < 1 || rounds < 1 || mine == NULL || sum == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (long i = 0; i < n; ++i) mine[i] = (float)value(rank, i);

  double seconds = 0, worst = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Allreduce(mine, sum, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    seconds += MPI_Wtime() - begin;
  }
  for (long i = 0; i < n; i += 97) worst = fmax(worst, fabs(sum[i] / size - exact_mean(size, i)));
  if (rank == 0)
    printf("%.1f ms for an allreduce of %.1f MB, greatest error %.2g\n", 1e3 * seconds / rounds,
           4e-6 * (double)n, worst);

  free(mine);
  free(sum);
  MPI_Finalize();
  return 0;
}

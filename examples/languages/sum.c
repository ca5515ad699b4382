/* sum.c: adds the ranks' fields, with every element of the sum within 1e-4 of the exact one. */
#include <mpi.h>
#include <stdio.h>
#include <taut/taut.h>

enum { n = 1000000 };
static float mine[n], total[n];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < n; ++i) mine[i] = (float)rank + 1e-6f * (float)i;

  TAUT_Comm_set_policy(MPI_COMM_WORLD, "abs:1e-4"); /* the same on every rank */
  TAUT_Allreduce(mine, total, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);

  char text[4096];
  TAUT_Comm_explain(MPI_COMM_WORLD, text, sizeof text, NULL);
  if (rank == 0) fputs(text, stdout);
  MPI_Finalize();
  return 0;
}

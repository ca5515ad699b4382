/* Calls of every kind from named functions, which the compiler neither inlines nor leaves by a jump to MPI.
 */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

#define FUNCTION __attribute__((noinline)) int

enum { count = 1 << 18 };
static float *x, *y;

FUNCTION solve(void) {
  MPI_Allreduce(x, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  return (int)y[0];
}
FUNCTION statistics(void) {
  MPI_Allreduce(x, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  return (int)y[1];
}
FUNCTION overlapped(void) {
  MPI_Request request;
  MPI_Iallreduce(x, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return (int)y[2];
}
FUNCTION lasting(void) {
#if MPI_VERSION >= 4
  MPI_Request request;
  MPI_Allreduce_init(x, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int start = 0; start < 3; ++start) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
#endif
  return (int)y[3];
}
FUNCTION pass_on(int rank) {
  if (rank == 0) MPI_Send(x, count, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(y, count, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return (int)y[4];
}

int main(int argc, char** argv) {
  int rank, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  x = malloc(count * sizeof *x);
  y = calloc(count, sizeof *y);
  for (int i = 0; i < count; ++i) x[i] = sinf((float)i * 1e-4f);
  for (int k = 0; k < 3; ++k) sum += solve() + statistics() + overlapped() + pass_on(rank);
  sum += lasting();
  MPI_Finalize();
  return sum == 0x7fffffff;
}

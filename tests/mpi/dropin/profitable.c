/* A program of plain MPI whose collective calls overlap: persistent requests that are made, started and freed
   again and again, and pairs of nonblocking calls that the ranks complete in different orders. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 1 << 20, requests = 6, starts = 10, pairs = 30 };

static int rank, size;
static double *send, *receive, *second;

/* Returns the number of wrong values in `sums`. */
static int wrong(const double* sums) {
  int found = 0;
  for (int i = 0; i < n; ++i) {
    const double error = sums[i] - (size * 1e-3 * i + size * (size - 1) / 2);
    found += error > 1e-3 || error < -1e-3;
  }
  return found;
}

static void persistent(void) {
  for (int i = 0; i < requests; ++i) {
    MPI_Request request;
    MPI_Gather_init(send, n, MPI_DOUBLE, receive, n, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int k = 0; k < starts; ++k) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
  }
}

static int nonblocking(void) {
  for (int i = 0; i < pairs; ++i) {
    MPI_Request both[2];
    MPI_Iallreduce(send, receive, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &both[0]);
    MPI_Iallreduce(send, second, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &both[1]);
    MPI_Wait(&both[rank % 2], MPI_STATUS_IGNORE);
    MPI_Wait(&both[1 - rank % 2], MPI_STATUS_IGNORE);
  }
  return wrong(receive) + wrong(second);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  send = malloc(n * sizeof(double));
  receive = malloc(n * sizeof(double) * (size_t)size);
  second = malloc(n * sizeof(double));
  for (int i = 0; i < n; ++i) send[i] = 1e-3 * i + rank;
  persistent();
  printf("wrong values: %d\n", nonblocking());
  free(send), free(receive), free(second);
  MPI_Finalize();
  return 0;
}

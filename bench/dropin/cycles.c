/* A program of plain MPI that creates and frees MPI objects which programs seldom create; prints the seconds
   of a cycle on the slowest rank.

     cycles requests DOUBLES CYCLES        MPI_Gather_init, ten starts and waits, MPI_Request_free
     cycles communicators 0 CYCLES         a duplicate, a split and a distributed graph, made and freed

   A fourth argument, `multiple`, initialises MPI with MPI_THREAD_MULTIPLE.

   64 calls of MPI_Gather on bytes, which Taut leaves to MPI, come first. An MPI sets up its shared memory in
   the first calls of a job: Intel MPI's first 16 to 25 gathers of 512 KiB take 0.34 ms each, later ones
   17 us. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void request_cycle(double* send, double* receive, int n) {
#ifndef NO_PERSISTENT
  MPI_Request request;
  MPI_Gather_init(send, n, MPI_DOUBLE, receive, n, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 10; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
#endif
}

static void communicator_cycle(void) {
  const int one = 1, next = (rank + 1) % size;
  MPI_Comm duplicate, half, graph;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Comm_split(duplicate, rank % 2, rank, &half);
  MPI_Dist_graph_create(duplicate, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&half);
  MPI_Comm_free(&duplicate);
}

static void warm_up(const double* send, double* receive, int n) {
  for (int i = 0; i < 64; ++i) MPI_Gather(send, 8 * n, MPI_BYTE, receive, 8 * n, MPI_BYTE, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int level = argc == 5 && strcmp(argv[4], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, level, &level);
  if (argc != 4 && argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
  const int requests = strcmp(argv[1], "requests") == 0, n = atoi(argv[2]), cycles = atoi(argv[3]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double* const send = calloc((size_t)n + 1, sizeof(double));
  double* const receive = calloc((size_t)n * (size_t)size + 1, sizeof(double));
  for (int i = 0; i < n; ++i) send[i] = 1e-3 * i + rank;
  warm_up(send, receive, n);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < cycles; ++i) requests ? request_cycle(send, receive, n) : communicator_cycle();
  double mine = (MPI_Wtime() - begin) / cycles, most = 0;
  MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%g\n", most);
  free(send);
  free(receive);
  MPI_Finalize();
  return 0;
}

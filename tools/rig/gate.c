/* gate MBIT SHARE, on two hosts: tests whether plain messages reach the rate of the link. It sends 16 MB one
   way (half a ping-pong) and both ways at the same time, and takes medians of 5. Prints a line that ends in
   "passed" if both are at least SHARE of MBIT. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 16000000, REPEATS = 5 };

static int by_value(const void* a, const void* b) {
  const double d = *(const double*)a - *(const double*)b;
  return (d > 0) - (d < 0);
}

static void ping_pong(char* out, char* in, int me) {
  const int other = 1 - me;
  if (me == 0) MPI_Send(out, BYTES, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  MPI_Recv(in, BYTES, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (me == 1) MPI_Send(out, BYTES, MPI_BYTE, other, 0, MPI_COMM_WORLD);
}

static void both_ways(char* out, char* in, int me) {
  const int other = 1 - me;
  MPI_Sendrecv(out, BYTES, MPI_BYTE, other, 0, in, BYTES, MPI_BYTE, other, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

/* Returns the median rate in Mbit/s, each way. A call sends `trips` messages one after the other. */
static double rate(void (*call)(char*, char*, int), int trips, char* out, char* in, int me) {
  double seconds[REPEATS];
  for (int k = -1; k < REPEATS; k++) { /* k = -1 warms up */
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    call(out, in, me);
    if (k >= 0) seconds[k] = (MPI_Wtime() - start) / trips;
  }
  qsort(seconds, REPEATS, sizeof *seconds, by_value);
  return BYTES * 8e-6 / seconds[REPEATS / 2];
}

int main(int argc, char** argv) {
  int me;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  const double link = argc > 1 ? atof(argv[1]) : 1000, share = argc > 2 ? atof(argv[2]) : 0.9;
  char *out = calloc(BYTES, 1), *in = calloc(BYTES, 1);
  const double one = rate(ping_pong, 2, out, in, me), both = rate(both_ways, 1, out, in, me);
  const int passed = one >= share * link && both >= share * link;
  if (me == 0)
    printf("gate: one way %.0f, both ways %.0f of %.0f Mbit/s: %s\n", one, both, link,
           passed ? "passed" : "not reached");
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}

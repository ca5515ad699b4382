/* Programs whose rules `taut advise` is to forecast: programs KIND. Rank 0 prints the seconds of its calls.
 *   late         the two ranks come late to an Allreduce in turn
 *   nonblocking  Iallreduce alone, with some work before the wait
 *   messages     halos by Isend and Irecv alone
 *   sites        two calls of one kind, of smooth values and of noise
 *   short        five calls of a few kinds */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { count = 1 << 18 };
static int rank, size;
static float *x, *y, *noise;

static void pause_for(int microseconds) {
  if (microseconds > 0) usleep((useconds_t)microseconds);
}

static void late(void) {
  for (int k = 0; k < 40; ++k) {
    pause_for(k % size == rank ? 30000 : 0);
    MPI_Allreduce(x, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
}

static void nonblocking(void) {
  for (int k = 0; k < 40; ++k) {
    MPI_Request request;
    MPI_Iallreduce(x, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 1000; ++i) noise[i] = noise[i] * 0.5F + x[i];
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void messages(void) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int k = 0; k < 40; ++k) {
    MPI_Request both[2];
    MPI_Irecv(y, count, MPI_FLOAT, before, 0, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(x, count, MPI_FLOAT, next, 0, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
}

static void sites(void) {
  for (int k = 0; k < 20; ++k) {
    MPI_Allreduce(x, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(noise, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
}

static void brief(void) {
  for (int k = 0; k < 2; ++k) {
    MPI_Allreduce(x, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Alltoall(x, count / size, MPI_FLOAT, y, count / size, MPI_FLOAT, MPI_COMM_WORLD);
  }
  MPI_Allreduce(x, y, 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } programs[] = {{"late", late},
                  {"nonblocking", nonblocking},
                  {"messages", messages},
                  {"sites", sites},
                  {"short", brief}};
  uint32_t random = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  x = malloc(count * sizeof *x), y = malloc(count * sizeof *y), noise = malloc(count * sizeof *noise);
  for (int i = 0; i < count; ++i) {
    random = random * 1664525U + 1013904223U;
    x[i] = sinf((float)i * 1e-3F) + 0.3F * cosf((float)i * 0.017F + (float)rank);
    noise[i] = (float)(random >> 8) / (1 << 24);
  }
  MPI_Allreduce(MPI_IN_PLACE, y, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); /* opens the connections */
  const double begin = MPI_Wtime();
  for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; ++i)
    if (strcmp(argv[1], programs[i].name) == 0) programs[i].run();
  if (rank == 0) printf("seconds %.6f\n", MPI_Wtime() - begin);
  return MPI_Finalize();
}

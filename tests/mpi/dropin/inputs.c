/* A program whose root keeps a table in read-only memory, and another rank's worth of values in place. It
   makes the same calls many times. Prints how many values that a rank owns have changed, and the greatest
   error of received values relative to what was sent first. */
#define _GNU_SOURCE
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { n = 1 << 13, repetitions = 100 };

static double sent(int rank, int i) { return sin(1e-3 * i + rank) + 1e-3 * sin(12.9898 * i); }

static double* pages(size_t values) {
  return mmap(NULL, values * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Compares a block with what `owner` has sent; on the owner itself nothing may differ. */
static void compare(const double* block, int owner, int rank, long* changed, double* worst) {
  for (int i = 0; i < n; ++i) {
    const double off = fabs(block[i] - sent(owner, i));
    if (rank == owner)
      *changed += off != 0;
    else
      *worst = fmax(*worst, off);
  }
}

static void broadcast(double* values, int rank, MPI_Request* request) {
  MPI_Bcast(values, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Ibcast(values, n, MPI_DOUBLE, 0, MPI_COMM_WORLD, request);
  double* const also = rank == 0 ? values : malloc(n * sizeof *also);
  MPI_Request second;
  MPI_Ibcast(also, n, MPI_DOUBLE, 0, MPI_COMM_WORLD, &second);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  MPI_Wait(&second, MPI_STATUS_IGNORE);
  if (rank != 0) free(also);
}

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double *const table = pages(n), *const all = pages((size_t)n * size), *const mine = pages(n);
  for (int i = 0; i < n; ++i) table[i] = all[(size_t)rank * n + i] = mine[i] = sent(rank, i);
  if (rank == 0) mprotect(table, n * sizeof *table, PROT_READ);
  mprotect(mine, n * sizeof *mine, PROT_READ);

  long changed = 0, all_changed = 0;
  double worst = 0, all_worst = 0;
  double* const other = pages((size_t)n * size);
  for (int k = 0; k < repetitions; ++k) {
    MPI_Request request;
    broadcast(table, rank, &request);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, MPI_DOUBLE, MPI_COMM_WORLD);
  }
  compare(table, 0, rank, &changed, &worst);
  for (int r = 0; r < size; ++r) compare(all + (size_t)r * n, r, rank, &changed, &worst);

  /* Calls whose inputs are read-only. */
  MPI_Gather(mine, n, MPI_DOUBLE, other, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Scatter(mine, n / size, MPI_DOUBLE, other, n / size, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Alltoall(mine, n / size, MPI_DOUBLE, other, n / size, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Allreduce(mine, other, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(mine, other, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Scan(mine, other, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Sendrecv(mine, n, MPI_DOUBLE, (rank + 1) % size, 1, other, n, MPI_DOUBLE, (rank + size - 1) % size, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allgather(mine, n, MPI_DOUBLE, other, n, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < n; ++i) worst = fmax(worst, fabs(other[(size_t)r * n + i] - sent(r, i)));

  MPI_Reduce(&changed, &all_changed, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&worst, &all_worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("changed: %ld worst: %.9g\n", all_changed, all_worst);
  MPI_Finalize();
  return 0;
}

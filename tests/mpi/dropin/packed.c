/* A program of messages and collective calls whose doubles hold integers, bit by bit: records of nine
   numbers, tag, type, mask, as LAMMPS packs its atoms. Rank 0 prints the number of integers that changed, and
   the error of the numbers. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { atoms = 10000, numbers = 9, fields = numbers + 3, count = atoms * fields, tag = 1 };
static double sent[count], got[count];

static double packed(int64_t integer) {
  double bits;
  memcpy(&bits, &integer, sizeof bits);
  return bits;
}

static void fill(int of_rank) {
  for (int i = 0; i < atoms; ++i) {
    double* const atom = sent + i * fields;
    for (int k = 0; k < numbers; ++k) atom[k] = 16.8 + 16.8 * sin(0.0013 * i + k);
    atom[numbers] = packed(1 + (int64_t)atoms * of_rank + i);
    atom[numbers + 1] = packed(1 + i % 3);
    atom[numbers + 2] = packed(i % 17 == 0 ? -1 : 1);
  }
}

/* Compares the received values with those that rank `from` sent. */
static void compare(int from, long* changed, double* worst) {
  fill(from);
  for (int i = 0; i < count; ++i) {
    if (i % fields >= numbers)
      *changed += memcmp(got + i, sent + i, sizeof *got) != 0;
    else
      *worst = fmax(*worst, fabs(got[i] - sent[i]));
  }
}

int main(int argc, char** argv) {
  long changed = 0, all_changed = 0;
  double worst = 0, all_worst = 0;
  int rank = 0, size = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int before = (rank + size - 1) % size, next = (rank + 1) % size;

  for (int i = 0; i < 3; ++i) {
    fill(rank);
    MPI_Irecv(got, count, MPI_DOUBLE, before, tag, MPI_COMM_WORLD, &request);
    MPI_Send(sent, count, MPI_DOUBLE, next, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    compare(before, &changed, &worst);
  }

  fill(0);
  if (rank == 0) memcpy(got, sent, sizeof got);
  MPI_Bcast(got, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  compare(0, &changed, &worst);

  double* const all = malloc((size_t)size * sizeof sent);
  fill(rank);
  MPI_Allgather(sent, count, MPI_DOUBLE, all, count, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) {
    memcpy(got, all + (size_t)i * count, sizeof got);
    compare(i, &changed, &worst);
  }
  free(all);

  MPI_Reduce(&changed, &all_changed, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&worst, &all_worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("integers changed: %ld worst: %g\n", all_changed, all_worst);
  MPI_Finalize();
  return 0;
}

/* Data that a rank owns and passes in: calls read it and never change it, however often they are repeated.
 * Values sent lie in read-only memory. Seen in pmodels/mpich #2349 (the root's buffer of a broadcast),
 * yahoo/CaffeOnSpark #262 (a parameter server), open-mpi/ompi #1432 (send buffers stay readable). */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "program.h"

enum { n = 1 << 16, steps = 20, most_ranks = 8 };
static double* values; /* read-only */
static double* result;
static int counts[most_ranks], displs[most_ranks];
static const MPI_Datatype f64 = MPI_DOUBLE, none = MPI_DATATYPE_NULL;
static const MPI_Comm world = MPI_COMM_WORLD;

static void expect_block(const double* block, const double* expected) {
  for (int i = 0; i < n; ++i) deviates_by(block[i] - expected[i]);
}
static void expect_blocks(void) {
  for (int p = 0; p < ranks; ++p) expect_block(result + p * n, values);
}
/* A block that this rank owns has the bits of the values. */
static void expect_own(const double* block) { expect(!memcmp(block, values, sizeof(double) * n)); }
static void fill(int block) { memcpy(result + block * n, values, sizeof(double) * n); }
static void fill_all(void) {
  for (int p = 0; p < ranks; ++p) fill(p);
}

static void bcast_read_only(void) {
  for (int k = 0; k < steps; ++k) MPI_Bcast(rank ? result : values, n, f64, 0, world);
  if (rank) expect_block(result, values);
}
static void bcast_read_only_twice_at_once(void) {
  MPI_Request requests[2];
  MPI_Ibcast(rank ? result : values, n, f64, 0, world, requests);
  MPI_Ibcast(rank ? result + n : values, n, f64, 0, world, requests + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (rank) expect_block(result, values), expect_block(result + n, values);
}
static void bcast_unchanged(void) {
  fill(0);
  for (int k = 0; k < steps; ++k) MPI_Bcast(result, n, f64, 0, world);
  if (rank)
    expect_block(result, values);
  else
    expect_own(result);
}
static void bcast_updated(void) { /* the root adds a small number in each step, as a parameter server does */
  const double update = 1e-5;
  fill(0);
  for (int k = 0; k < steps; ++k) {
    for (int i = 0; !rank && i < n; ++i) result[i] += update;
    MPI_Bcast(result, n, f64, 0, world);
  }
  for (int i = 0; i < n; ++i) deviates_by(result[i] - (values[i] + steps * update));
}
static void allgather_in_place(void) {
  fill(rank);
  for (int k = 0; k < steps; ++k) MPI_Allgather(MPI_IN_PLACE, 0, none, result, n, f64, world);
  expect_blocks();
  expect_own(result + rank * n);
}
static void allgatherv_in_place(void) {
  for (int p = 0; p < ranks; ++p) counts[p] = n, displs[p] = p * n;
  fill(rank);
  for (int k = 0; k < steps; ++k) MPI_Allgatherv(MPI_IN_PLACE, 0, none, result, counts, displs, f64, world);
  expect_blocks();
  expect_own(result + rank * n);
}
static void gather_in_place(void) {
  fill(rank);
  for (int k = 0; k < steps; ++k)
    MPI_Gather(rank ? values : MPI_IN_PLACE, n, f64, rank ? NULL : result, n, f64, 0, world);
  if (!rank) expect_blocks(), expect_own(result);
}
static void scatter_in_place(void) {
  fill_all();
  for (int k = 0; k < steps; ++k)
    MPI_Scatter(rank ? NULL : result, n, f64, rank ? result : MPI_IN_PLACE, n, f64, 0, world);
  expect_block(result, values);
  for (int p = 0; !rank && p < ranks; ++p) expect_own(result + p * n);
}
static void alltoall_in_place(void) {
  fill_all();
  MPI_Alltoall(MPI_IN_PLACE, 0, none, result, n, f64, world);
  expect_blocks();
  expect_own(result + rank * n);
}
static void sent_from_read_only(void) {
  const int m = n / ranks, root = 0;
  MPI_Request request;
  MPI_Allreduce(values, result, n, f64, MPI_SUM, world);
  MPI_Reduce(values, result, n, f64, MPI_SUM, root, world);
  MPI_Scan(values, result, n, f64, MPI_SUM, world);
  MPI_Reduce_scatter_block(values, result, m, f64, MPI_SUM, world);
  MPI_Gather(values, n, f64, result, n, f64, root, world);
  MPI_Alltoall(values, m, f64, result, m, f64, world);
  MPI_Scatter(values, m, f64, result, m, f64, root, world);
  MPI_Irecv(result, n, f64, (rank + ranks - 1) % ranks, 1, world, &request);
  MPI_Send(values, n, f64, (rank + 1) % ranks, 1, world);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_block(result, values);
  MPI_Allgather(values, n, f64, result, n, f64, world);
  expect_blocks();
}

static const Case cases[] = {
    {"bcast_read_only", bcast_read_only},
    {"bcast_read_only_twice_at_once", bcast_read_only_twice_at_once},
    {"bcast_unchanged", bcast_unchanged},
    {"bcast_updated", bcast_updated},
    {"allgather_in_place", allgather_in_place},
    {"allgatherv_in_place", allgatherv_in_place},
    {"gather_in_place", gather_in_place},
    {"scatter_in_place", scatter_in_place},
    {"alltoall_in_place", alltoall_in_place},
    {"sent_from_read_only", sent_from_read_only},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  values = mmap(NULL, sizeof(double) * n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  result = calloc((size_t)n * ranks, sizeof(double));
  for (int i = 0; i < n; ++i) values[i] = smooth(i);
  mprotect(values, sizeof(double) * n, PROT_READ);
  run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
  MPI_Finalize();
}

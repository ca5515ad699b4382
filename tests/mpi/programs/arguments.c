/* Arguments that MPI does not read or that are unusual: NULL, garbage counts and types away from the root,
 * displacements of zero counts, MPI_DATATYPE_NULL beside MPI_IN_PLACE, absolute addresses, derived types of
 * one signature. Seen in Darshan #698, IPM #41, mpiP #56, pmodels/mpich #5700, open-mpi/ompi #1763, #3937,
 * #10523. */
#include <limits.h>

#include "program.h"

enum { n = 1 << 16, most_ranks = 8 };
static float *values, *result;
static int counts[most_ranks], displs[most_ranks], recvcounts[most_ranks], recvdispls[most_ranks];
static MPI_Datatype types[most_ranks], recvtypes[most_ranks];

static const MPI_Datatype f32 = MPI_FLOAT, none = MPI_DATATYPE_NULL;
static const MPI_Comm world = MPI_COMM_WORLD;

static void expect_values(const float* found, int count, double factor) {
  for (int i = 0; i < count; ++i) deviates_by(found[i] - factor * values[i]);
}
static void expect_blocks(void) {
  for (int p = 0; p < ranks; ++p) expect_values(result + p * n, n, 1);
}
static void fill_blocks(void) {
  for (int p = 0; p < ranks; ++p) memcpy(result + p * n, values, sizeof(float) * n);
}
static void own_block(void) { memcpy(result + rank * n, values, sizeof(float) * n); }
static void equal_blocks(void) {
  for (int p = 0; p < ranks; ++p) counts[p] = n, displs[p] = p * n;
}
/* Sets counts so that each rank sends to the next one only; the other blocks are empty and lie anywhere. */
static void only_to_next(int wild, int recvwild) {
  for (int p = 0; p < ranks; ++p) {
    counts[p] = p == (rank + 1) % ranks ? n : 0;
    displs[p] = counts[p] ? 0 : wild + p;
    recvcounts[p] = p == (rank + ranks - 1) % ranks ? n : 0;
    recvdispls[p] = recvcounts[p] ? 0 : recvwild;
    types[p] = counts[p] ? f32 : none;
    recvtypes[p] = recvcounts[p] ? f32 : none;
  }
}

static void reduce(void) {
  const int root = ranks - 1;
  MPI_Reduce(values, rank == root ? result : NULL, n, f32, MPI_SUM, root, world);
  if (rank == root) expect_values(result, n, ranks);
}
static void reduce_in_place(void) {
  memcpy(result, values, sizeof(float) * n);
  MPI_Reduce(rank ? result : MPI_IN_PLACE, rank ? NULL : result, n, f32, MPI_SUM, 0, world);
  if (!rank) expect_values(result, n, ranks);
}
static void gather(void) {
  MPI_Gather(values, n, f32, rank ? NULL : result, rank ? -17 : n, rank ? none : f32, 0, world);
  if (!rank) expect_blocks();
}
static void gatherv(void) {
  equal_blocks();
  MPI_Gatherv(values, n, f32, rank ? NULL : result, rank ? NULL : counts, rank ? NULL : displs,
              rank ? none : f32, 0, world);
  if (!rank) expect_blocks();
}
static void scatterv(void) {
  for (int p = 0; p < ranks; ++p) counts[p] = n, displs[p] = 0;
  MPI_Scatterv(rank ? NULL : values, rank ? NULL : counts, rank ? NULL : displs, rank ? none : f32, result, n,
               f32, 0, world);
  expect_values(result, n, 1);
}
static void scatter_in_place(void) {
  const int m = n / ranks;
  if (!rank) {
    MPI_Scatter(values, m, f32, MPI_IN_PLACE, -3, none, 0, world);
    return;
  }
  MPI_Scatter(NULL, 0, none, result, m, f32, 0, world);
  for (int i = 0; i < m; ++i) deviates_by(result[i] - values[rank * m + i]);
}
static void allgather_in_place(void) {
  own_block();
  MPI_Allgather(MPI_IN_PLACE, 0, none, result, n, f32, world);
  expect_blocks();
}
static void allgatherv_in_place(void) {
  equal_blocks();
  own_block();
  MPI_Allgatherv(MPI_IN_PLACE, -1, none, result, counts, displs, f32, world);
  expect_blocks();
}
static void alltoall_in_place(void) {
  fill_blocks();
  MPI_Alltoall(MPI_IN_PLACE, -1, none, result, n, f32, world);
  expect_blocks();
}
static void alltoallv_in_place(void) {
  fill_blocks();
  equal_blocks();
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, none, result, counts, displs, f32, world);
  expect_blocks();
}
static void alltoallw_in_place(void) {
  fill_blocks();
  for (int p = 0; p < ranks; ++p) counts[p] = n, displs[p] = (int)sizeof(float) * p * n, types[p] = f32;
  MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, result, counts, displs, types, world);
  expect_blocks();
}
static void alltoallv_wild(void) {
  only_to_next(INT_MIN, INT_MAX);
  MPI_Alltoallv(values, counts, displs, f32, result, recvcounts, recvdispls, f32, world);
  expect_values(result, n, 1);
}
static void alltoallw_null_types(void) {
  only_to_next(123456789, -99);
  MPI_Alltoallw(values, counts, displs, types, result, recvcounts, recvdispls, recvtypes, world);
  expect_values(result, n, 1);
}
static void allgatherv_wild(void) {
  for (int p = 0; p < ranks; ++p) counts[p] = p ? 0 : n, displs[p] = p ? INT_MAX - p : 0;
  MPI_Allgatherv(rank ? NULL : values, rank ? 0 : n, f32, result, counts, displs, f32, world);
  expect_values(result, n, 1);
}
static void reduce_scatter_empty(void) {
  for (int p = 0; p < ranks; ++p) counts[p] = p ? 0 : n;
  MPI_Reduce_scatter(values, rank ? NULL : result, counts, f32, MPI_SUM, world);
  if (!rank) expect_values(result, n, ranks);
}

/* Broadcasts `count` elements of `type` at the root, and of `received` into `at` at the others. */
static void bcast_as(const float* from, int count, MPI_Datatype type, float* at, int recvcount,
                     MPI_Datatype received) {
  MPI_Type_commit(&type);
  MPI_Type_commit(&received);
  if (rank)
    MPI_Bcast(at, recvcount, received, 0, world);
  else
    MPI_Bcast((float*)from, count, type, 0, world);
}
static void bottom(void) { /* absolute addresses */
  MPI_Aint address;
  MPI_Datatype type;
  int count = n;
  MPI_Get_address(rank ? result : values, &address);
  MPI_Type_create_hindexed(1, &count, &address, f32, &type);
  MPI_Type_commit(&type);
  MPI_Bcast(MPI_BOTTOM, 1, type, 0, world);
  MPI_Type_free(&type);
  if (rank) expect_values(result, n, 1);
}
static void contiguous_at_root(void) {
  MPI_Datatype type;
  MPI_Type_contiguous(n, f32, &type);
  bcast_as(values, 1, type, result, n, f32);
  if (rank) expect_values(result, n, 1);
  MPI_Type_free(&type);
}
static void contiguous_of_eight(void) {
  MPI_Datatype type;
  MPI_Type_contiguous(8, f32, &type);
  bcast_as(values, n / 8, type, result, n, f32);
  if (rank) expect_values(result, n, 1);
  MPI_Type_free(&type);
}
static void negative_stride(void) {
  MPI_Datatype type;
  MPI_Type_vector(n, 1, -1, f32, &type);
  bcast_as(values, n, f32, result + n - 1, 1, type);
  for (int i = 0; rank && i < n; ++i) deviates_by(result[n - 1 - i] - values[i]);
  MPI_Type_free(&type);
}
static void every_second_place(void) {
  MPI_Datatype type;
  float* spaced = calloc(2 * n, sizeof *spaced);
  MPI_Type_create_resized(f32, 0, 2 * sizeof(float), &type);
  bcast_as(values, n, f32, spaced, n, type);
  for (int i = 0; rank && i < n; ++i) deviates_by(spaced[2 * i] - values[i]), expect(spaced[2 * i + 1] == 0);
  MPI_Type_free(&type);
  free(spaced);
}
static void part_of_a_matrix(void) { /* rank 1 has a dense block, the others a part of a larger matrix */
  enum { columns = 256, rows = n / columns, leading = 300 };
  float* matrix = calloc((size_t)leading * rows, sizeof *matrix);
  MPI_Datatype type;
  MPI_Type_vector(rows, columns, leading, f32, &type);
  MPI_Type_commit(&type);
  for (int i = 0; !rank && i < rows; ++i)
    memcpy(matrix + i * leading, values + i * columns, sizeof(float) * columns);
  if (rank == 1) {
    MPI_Bcast(result, n, f32, 0, world);
    expect_values(result, n, 1);
  } else {
    MPI_Bcast(matrix, 1, type, 0, world);
    for (int i = 0; i < rows * leading; ++i) {
      const int row = i / leading, column = i % leading;
      if (column < columns)
        deviates_by(matrix[i] - values[row * columns + column]);
      else
        expect(matrix[i] == 0);
    }
  }
  MPI_Type_free(&type);
  free(matrix);
}
static void extent_zero(void) { /* every element from the same place */
  MPI_Datatype type;
  MPI_Type_create_resized(f32, 0, 0, &type);
  bcast_as(values + 7, n, type, result, n, f32);
  for (int i = 0; rank && i < n; ++i) deviates_by(result[i] - values[7]);
  MPI_Type_free(&type);
}

/* ---- One buffer under different types on different ranks: formally wrong, usual in practice (MFlowCode/MFC
 * #1561, HDFGroup/hdf5 #205). MPI moves the bytes. */

static void bcast_of(MPI_Datatype type, int count, MPI_Datatype received, int recvcount) {
  if (rank) memset(result, 0, sizeof(float) * n);
  if (rank)
    MPI_Bcast(result, recvcount, received, 0, world);
  else
    MPI_Bcast(values, count, type, 0, world);
  if (rank) expect_values(result, n, 1);
}
static void floats_as_bytes(void) { bcast_of(f32, n, MPI_BYTE, (int)sizeof(float) * n); }
static void integers_as_floats(void) { bcast_of(MPI_INT, n, f32, n); }
static void floats_as_complex(void) { bcast_of(f32, n, MPI_C_FLOAT_COMPLEX, n / 2); }
static void gathered_bytes(void) {
  const int bytes = (int)sizeof(float) * n;
  MPI_Gather(values, rank ? bytes : n, rank ? MPI_BYTE : f32, result, n, f32, 0, world);
  if (!rank) expect_blocks();
}
static void scattered_bytes(void) {
  const int m = n / ranks, bytes = (int)sizeof(float) * m;
  MPI_Scatter(values, m, f32, result, rank == 1 ? bytes : m, rank == 1 ? MPI_BYTE : f32, 0, world);
  for (int i = 0; i < m; ++i) deviates_by(result[i] - values[rank * m + i]);
}
static void allgathered_bytes(void) {
  const int bytes = (int)sizeof(float) * n;
  MPI_Allgather(values, rank == 1 ? bytes : n, rank == 1 ? MPI_BYTE : f32, result, n, f32, world);
  expect_blocks();
}

static const Case cases[] = {
    {"reduce", reduce},
    {"reduce_in_place", reduce_in_place},
    {"gather", gather},
    {"gatherv", gatherv},
    {"scatterv", scatterv},
    {"scatter_in_place", scatter_in_place},
    {"allgather_in_place", allgather_in_place},
    {"allgatherv_in_place", allgatherv_in_place},
    {"alltoall_in_place", alltoall_in_place},
    {"alltoallv_in_place", alltoallv_in_place},
    {"alltoallw_in_place", alltoallw_in_place},
    {"alltoallv_wild", alltoallv_wild},
    {"alltoallw_null_types", alltoallw_null_types},
    {"allgatherv_wild", allgatherv_wild},
    {"reduce_scatter_empty", reduce_scatter_empty},
    {"bottom", bottom},
    {"contiguous_at_root", contiguous_at_root},
    {"contiguous_of_eight", contiguous_of_eight},
    {"negative_stride", negative_stride},
    {"every_second_place", every_second_place},
    {"part_of_a_matrix", part_of_a_matrix},
    {"extent_zero", extent_zero},
    {"floats_as_bytes", floats_as_bytes},
    {"integers_as_floats", integers_as_floats},
    {"floats_as_complex", floats_as_complex},
    {"gathered_bytes", gathered_bytes},
    {"scattered_bytes", scattered_bytes},
    {"allgathered_bytes", allgathered_bytes},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  values = malloc(sizeof(float) * n);
  result = calloc((size_t)n * ranks, sizeof(float));
  for (int i = 0; i < n; ++i) values[i] = (float)smooth(i);
  run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
  MPI_Finalize();
}

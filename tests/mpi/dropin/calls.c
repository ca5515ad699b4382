/* A program of plain MPI that makes every collective call which the drop-in intercepts, also in place, on
   MPI_COMM_WORLD and on a part of it. It writes the result of each call on this rank:

     calls FOLDER      into FOLDER/<rank>.txt: name, hash of the bits, greatest error */
#include "calls.h"

static void reductions(void) {
  const int n = size * block, root = size - 1;
  int counts[most_ranks];
  for (int r = 0; r < size; ++r) counts[r] = block;

  begin(), expect_sum(n, 0);
  MPI_Allreduce(send, receive, n, MPI_FLOAT, MPI_SUM, comm), end("Allreduce", n);
  begin(), memcpy(receive, send, sizeof(float) * (size_t)n);
  MPI_Allreduce(MPI_IN_PLACE, receive, n, MPI_FLOAT, MPI_SUM, comm), end("Allreduce,in_place", n);
  begin();
  MPI_Reduce(send, receive, n, MPI_FLOAT, MPI_SUM, root, comm), end("Reduce", rank == root ? n : 0);
  begin(), expect_sum(block, (long)rank * block);
  MPI_Reduce_scatter_block(send, receive, block, MPI_FLOAT, MPI_SUM, comm),
      end("Reduce_scatter_block", block);
  begin();
  MPI_Reduce_scatter(send, receive, counts, MPI_FLOAT, MPI_SUM, comm), end("Reduce_scatter", block);
  begin(), memcpy(receive, send, sizeof(float) * (size_t)n);
  MPI_Reduce_scatter(MPI_IN_PLACE, receive, counts, MPI_FLOAT, MPI_SUM, comm);
  memset(receive + block, 0, sizeof receive - sizeof(float) * block); /* MPI leaves these values open */
  end("Reduce_scatter,in_place", block);
  begin(), expect_prefix(n, rank + 1);
  MPI_Scan(send, receive, n, MPI_FLOAT, MPI_SUM, comm), end("Scan", n);
  begin(), memcpy(receive, send, sizeof(float) * (size_t)n);
  MPI_Scan(MPI_IN_PLACE, receive, n, MPI_FLOAT, MPI_SUM, comm), end("Scan,in_place", n);
  begin(), expect_prefix(n, rank); /* rank 0 receives nothing */
  MPI_Exscan(send, receive, n, MPI_FLOAT, MPI_SUM, comm), end("Exscan", rank > 0 ? n : 0);
}

static void movements(void) {
  const int n = size * block, root = size - 1;
  begin();
  if (rank == root) fill(receive, n, 0, root);
  for (long i = 0; i < n; ++i) exact[i] = value(root, i);
  MPI_Bcast(receive, n, MPI_FLOAT, root, comm), end("Bcast", n);

  begin(), expect_blocks(block, -1, 0);
  MPI_Allgather(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, comm), end("Allgather", n);
  begin(), fill(receive + rank * block, block, 0, rank);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, block, MPI_FLOAT, comm),
      end("Allgather,in_place", n);
  begin();
  MPI_Gather(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, root, comm),
      end("Gather", rank == root ? n : 0);

  begin();
  for (long i = 0; i < block; ++i) exact[i] = value(root, (long)rank * block + i);
  MPI_Scatter(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, root, comm), end("Scatter", block);

  begin(), expect_blocks(block, -1, (long)rank * block);
  MPI_Alltoall(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, comm), end("Alltoall", n);
}

/* Expects every second float of a block; exact[] has the values and the gaps. */
static void expect_spaced(int of_rank) {
  for (int r = 0; r < size; ++r)
    for (long i = 0; i < block; ++i) {
      float gap;
      memset(&gap, 0x5a, sizeof gap);
      exact[r * (long)block + i] = i % 2 == 0 ? value(of_rank < 0 ? r : of_rank, i / 2) : (double)gap;
    }
}

static void datatypes(void) {
  const int root = size - 1;
  MPI_Datatype apart, spaced;
  MPI_Type_vector(block / 2, 1, 2, MPI_FLOAT, &apart);
  MPI_Type_create_resized(apart, 0, block * (MPI_Aint)sizeof(float), &spaced);
  MPI_Type_commit(&spaced);
  begin(), expect_spaced(root);
  if (rank == root)
    for (long i = 0; i < block; i += 2) receive[i] = (float)value(root, i / 2);
  MPI_Bcast(receive, 1, spaced, root, comm), end("Bcast,vector", block);
  begin(), expect_spaced(-1);
  MPI_Allgather(send, block / 2, MPI_FLOAT, receive, 1, spaced, comm),
      end("Allgather,vector", (long)size * block);
  MPI_Type_free(&spaced);
  MPI_Type_free(&apart);
}

/* Vector calls: the block of rank r has block - 1 - r values, with gaps between blocks, in reverse order of
   ranks. */
static void vectors(void) {
  const int root = size - 1;
  const struct vectors all = lay_out();
  const int *const counts = all.counts, *const displs = all.displs;
  const int own = counts[rank];
  expect_gaps(&all);
  begin();
  MPI_Allgatherv(send, own, MPI_FLOAT, receive, counts, displs, MPI_FLOAT, comm);
  end("Allgatherv", (long)size * block);
  begin();
  MPI_Gatherv(send, own, MPI_FLOAT, receive, rank == root ? counts : NULL, rank == root ? displs : NULL,
              MPI_FLOAT, root, comm);
  end("Gatherv", rank == root ? (long)size * block : 0);

  begin();
  for (long i = 0; i < own; ++i) exact[i] = value(root, displs[rank] + i);
  MPI_Scatterv(send, rank == root ? counts : NULL, rank == root ? displs : NULL, MPI_FLOAT, receive, own,
               MPI_FLOAT, root, comm);
  end("Scatterv", own);

  begin(); /* rank r gets block - 1 - r values from each rank */
  expect_row(&all);
  MPI_Alltoallv(send, counts, displs, MPI_FLOAT, receive, all.mine, all.places, MPI_FLOAT, comm);
  end("Alltoallv", (long)size * own);
  const struct typed bytes = lay_out_bytes(&all);
  begin();
  MPI_Alltoallw(send, counts, bytes.from, bytes.types, receive, all.mine, bytes.to, bytes.types, comm);
  end("Alltoallw", (long)size * own);
}

/* A transposition as FFTs make it: from rows of a matrix to columns, by subarrays. */
static void transposition(void) {
  const int rows = 128, columns = block / rows, wide[2] = {rows, size * columns},
            high[2] = {size * rows, columns};
  const int part[2] = {rows, columns};
  int ones[most_ranks], zeros[most_ranks] = {0};
  MPI_Datatype from[most_ranks], to[most_ranks];
  for (int r = 0; r < size; ++r) {
    const int column[2] = {0, r * columns}, row[2] = {r * rows, 0};
    ones[r] = 1;
    MPI_Type_create_subarray(2, wide, part, column, MPI_ORDER_C, MPI_FLOAT, &from[r]);
    MPI_Type_create_subarray(2, high, part, row, MPI_ORDER_C, MPI_FLOAT, &to[r]);
    MPI_Type_commit(&from[r]), MPI_Type_commit(&to[r]);
  }
  for (int i = 0; i < size * rows; ++i)
    for (int j = 0; j < columns; ++j)
      exact[i * columns + j] = value(i / rows, (long)(i % rows) * size * columns + rank * columns + j);
  begin();
  MPI_Alltoallw(send, ones, zeros, from, receive, ones, zeros, to, comm);
  end("Alltoallw,subarrays", (long)size * block);
  for (int r = 0; r < size; ++r) MPI_Type_free(&from[r]), MPI_Type_free(&to[r]);
}

/* MPI_Pcontrol(9000) leaves calls to plain MPI; MPI_Pcontrol(9002) writes the report so far. */
static void switched_off(void) {
  const int n = size * block;
  MPI_Pcontrol(9000);
  begin(), expect_sum(n, 0);
  MPI_Allreduce(send, receive, n, MPI_FLOAT, MPI_SUM, comm), end("plain,Allreduce", n);
  MPI_Pcontrol(9001);
  MPI_Pcontrol(9002);
  --made; /* Taut does not see this call */
}

static void all_calls(MPI_Comm on, const char* title) {
  use(on, title);
  reductions();
  movements();
  vectors();
  transposition();
  datatypes();
  switched_off();
}

int main(int argc, char** argv) {
  const int none = 0;
  return make_calls(argc, argv, all_calls, &none);
}

/* Makes each kind of call that Taut serves: blocking, nonblocking, persistent, in place, with gaps; and
 * messages. */
#include <mpi.h>
#include <stdlib.h>

enum { n = 30000, most = 4 };

static int rank, size;
static float *in, *out;

static void fill(void) {
  for (int i = 0; i < most * n; ++i) {
    in[i] = (float)((i * 37 + rank * 11) % 997) * 0.37F;
    out[i] = (float)((i * 53 + rank * 29) % 991) * 0.41F;
  }
}

static void reductions(MPI_Comm comm) {
  int counts[most];
  for (int r = 0; r < size; ++r) counts[r] = n - 100 * r;
  fill(), MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, comm);
  fill(), MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_FLOAT, MPI_MAX, comm);
  fill(), MPI_Reduce(in, out, n, MPI_FLOAT, MPI_SUM, 1, comm);
  fill(), MPI_Reduce(rank == 1 ? MPI_IN_PLACE : in, out, n, MPI_FLOAT, MPI_SUM, 1, comm);
  fill(), MPI_Reduce_scatter_block(in, out, n, MPI_FLOAT, MPI_SUM, comm);
  fill(), MPI_Reduce_scatter(MPI_IN_PLACE, out, counts, MPI_FLOAT, MPI_SUM, comm);
  fill(), MPI_Scan(in, out, n, MPI_FLOAT, MPI_SUM, comm);
  fill(), MPI_Exscan(MPI_IN_PLACE, out, n, MPI_FLOAT, MPI_SUM, comm);
}

static void moves(MPI_Comm comm) {
  int counts[most], displs[most];
  for (int r = 0; r < size; ++r) counts[r] = n - 100, displs[r] = r * n;
  fill(), MPI_Bcast(out, n, MPI_FLOAT, 2, comm);
  fill(), MPI_Scatter(in, n, MPI_FLOAT, rank == 0 ? MPI_IN_PLACE : out, n, MPI_FLOAT, 0, comm);
  fill(), MPI_Gather(in, n, MPI_FLOAT, out, n, MPI_FLOAT, 0, comm);
  fill(), MPI_Allgather(MPI_IN_PLACE, n, MPI_FLOAT, out, n, MPI_FLOAT, comm);
  fill(), MPI_Allgatherv(in, n - 100, MPI_FLOAT, out, counts, displs, MPI_FLOAT, comm);
  fill(), MPI_Alltoall(MPI_IN_PLACE, n, MPI_FLOAT, out, n, MPI_FLOAT, comm);
  fill(), MPI_Alltoallv(in, counts, displs, MPI_FLOAT, out, counts, displs, MPI_FLOAT, comm);
}

/* Values with gaps between them, and neighbours. */
static void others(MPI_Comm comm) {
  const int periodic = 1;
  MPI_Datatype every_other;
  MPI_Comm ring;
  MPI_Type_vector(n, 1, 2, MPI_FLOAT, &every_other);
  MPI_Type_commit(&every_other);
  fill(), MPI_Bcast(out, 1, every_other, 0, comm);
  MPI_Type_free(&every_other);
  MPI_Cart_create(comm, 1, &size, &periodic, 0, &ring);
  fill(), MPI_Neighbor_allgather(in, n, MPI_FLOAT, out, n, MPI_FLOAT, ring);
  MPI_Comm_free(&ring);
}

static void nonblocking(MPI_Comm comm) {
  MPI_Request requests[3];
  fill();
  MPI_Iallreduce(in, out, n, MPI_FLOAT, MPI_SUM, comm, &requests[0]);
  MPI_Ibcast(out + n, n, MPI_FLOAT, 0, comm, &requests[1]);
  MPI_Iallreduce(MPI_IN_PLACE, out + 2 * n, n, MPI_FLOAT, MPI_MAX, comm, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
#if MPI_VERSION >= 4
  MPI_Allreduce_init(in, out, n, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
  for (int i = 0; i < 3; ++i) {
    fill(), MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&requests[0]);
#endif
}

static void messages(MPI_Comm comm) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int i = 0; i < 4; ++i) {
    MPI_Request request;
    fill();
    MPI_Irecv(out, most * n, MPI_FLOAT, from, 0, comm, &request);
    MPI_Send(in, most * n, MPI_FLOAT, to, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  in = malloc(most * n * sizeof *in);
  out = malloc(2 * most * n * sizeof *out);
  reductions(MPI_COMM_WORLD);
  moves(MPI_COMM_WORLD);
  others(MPI_COMM_WORLD);
  nonblocking(MPI_COMM_WORLD);
  messages(MPI_COMM_WORLD);
  free(in), free(out);
  MPI_Finalize();
  return 0;
}

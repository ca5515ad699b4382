/* A program of plain MPI that creates persistent collective calls, starts each several times among messages
   and other calls, and writes the results as calls.c does. */
#include "calls.h"

enum { tag = 5, starts = 3 };
static int persistent;

static void came(const char* name, long n) {
  end(name, n);
  ++persistent;
}

/* Returns true if Taut serves persistent calls, for tests that plain MPI would not pass. */
static int served(void) { return getenv("TAUT_NONBLOCKING") != NULL; }

/* Starts a persistent call several times, each time with other values in its buffer. */
static void repeat(MPI_Request* request, const char* name, long n, void (*fresh)(void)) {
  for (int i = 0; i < starts; ++i) {
    begin();
    if (fresh != NULL) fresh();
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (*request == MPI_REQUEST_NULL) fail(name);
    came(name, n);
  }
  MPI_Request_free(request);
  if (*request != MPI_REQUEST_NULL) fail("MPI_Request_free");
}

static void own_values(void) { memcpy(receive, send, sizeof(float) * (size_t)(size * block)); }
static void root_values(void) {
  if (rank == size - 1) fill(receive, (long)size * block, 0, rank);
}
static void own_block(void) { fill(receive + rank * block, block, 0, rank); }

static void reductions(void) {
  const int n = size * block, root = size - 1;
  int counts[most_ranks];
  MPI_Request request;
  for (int r = 0; r < size; ++r) counts[r] = block;
  expect_sum(n, 0);
  MPI_Allreduce_init(send, receive, n, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  repeat(&request, "Allreduce_init", n, NULL);
  MPI_Allreduce_init(MPI_IN_PLACE, receive, n, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  repeat(&request, "Allreduce_init,in_place", n, own_values);
  MPI_Reduce_init(send, receive, n, MPI_FLOAT, MPI_SUM, root, comm, MPI_INFO_NULL, &request);
  repeat(&request, "Reduce_init", rank == root ? n : 0, NULL);
  expect_sum(block, (long)rank * block);
  MPI_Reduce_scatter_block_init(send, receive, block, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  repeat(&request, "Reduce_scatter_block_init", block, NULL);
  MPI_Reduce_scatter_init(send, receive, counts, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  repeat(&request, "Reduce_scatter_init", block, NULL);
  expect_prefix(n, rank + 1);
  MPI_Scan_init(MPI_IN_PLACE, receive, n, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  repeat(&request, "Scan_init,in_place", n, own_values);
  expect_prefix(n, rank);
  MPI_Exscan_init(send, receive, n, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  repeat(&request, "Exscan_init", rank > 0 ? n : 0, NULL);
}

static void movements(void) {
  const int n = size * block, root = size - 1;
  MPI_Request request;
  for (long i = 0; i < n; ++i) exact[i] = value(root, i);
  MPI_Bcast_init(receive, n, MPI_FLOAT, root, comm, MPI_INFO_NULL, &request);
  repeat(&request, "Bcast_init", n, root_values);
  expect_blocks(block, -1, 0);
  MPI_Allgather_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, block, MPI_FLOAT, comm, MPI_INFO_NULL,
                     &request);
  repeat(&request, "Allgather_init,in_place", n, own_block);
  MPI_Gather_init(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, root, comm, MPI_INFO_NULL, &request);
  repeat(&request, "Gather_init", rank == root ? n : 0, NULL);
  for (long i = 0; i < block; ++i) exact[i] = value(root, (long)rank * block + i);
  MPI_Scatter_init(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, root, comm, MPI_INFO_NULL, &request);
  repeat(&request, "Scatter_init", block, NULL);
  expect_blocks(block, -1, (long)rank * block);
  MPI_Alltoall_init(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, comm, MPI_INFO_NULL, &request);
  repeat(&request, "Alltoall_init", n, NULL);
}

/* Vector calls in reverse order of ranks. */
static void vectors(void) {
  const int root = size - 1;
  const struct vectors all = lay_out();
  const int *const counts = all.counts, *const displs = all.displs;
  const int own = counts[rank];
  MPI_Request request;
  expect_gaps(&all);
  MPI_Allgatherv_init(send, own, MPI_FLOAT, receive, counts, displs, MPI_FLOAT, comm, MPI_INFO_NULL,
                      &request);
  repeat(&request, "Allgatherv_init", (long)size * block, NULL);
  MPI_Gatherv_init(send, own, MPI_FLOAT, receive, counts, displs, MPI_FLOAT, root, comm, MPI_INFO_NULL,
                   &request);
  repeat(&request, "Gatherv_init", rank == root ? (long)size * block : 0, NULL);
  for (long i = 0; i < own; ++i) exact[i] = value(root, displs[rank] + i);
  MPI_Scatterv_init(send, counts, displs, MPI_FLOAT, receive, own, MPI_FLOAT, root, comm, MPI_INFO_NULL,
                    &request);
  repeat(&request, "Scatterv_init", own, NULL);
  expect_row(&all);
  MPI_Alltoallv_init(send, counts, displs, MPI_FLOAT, receive, all.mine, all.places, MPI_FLOAT, comm,
                     MPI_INFO_NULL, &request);
  repeat(&request, "Alltoallv_init", (long)size * own, NULL);
  const struct typed bytes = lay_out_bytes(&all);
  MPI_Alltoallw_init(send, counts, bytes.from, bytes.types, receive, all.mine, bytes.to, bytes.types, comm,
                     MPI_INFO_NULL, &request);
  repeat(&request, "Alltoallw_init", (long)size * own, NULL);
}

/* Exchange with both neighbours in the ring of ranks. */
static void neighbours(void) {
  const int around[2] = {(rank + size - 1) % size, (rank + 1) % size};
  MPI_Comm ring;
  MPI_Request request;
  MPI_Dist_graph_create_adjacent(comm, 2, around, MPI_UNWEIGHTED, 2, around, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &ring);
  const int counts[2] = {block, block}, places[2] = {0, block};
  const MPI_Aint bytes[2] = {0, block * (MPI_Aint)sizeof(float)};
  const MPI_Datatype types[2] = {MPI_FLOAT, MPI_FLOAT};
  for (int i = 0; i < 2; ++i)
    for (long k = 0; k < block; ++k) exact[i * (long)block + k] = value(around[i], k);
  MPI_Neighbor_allgather_init(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, ring, MPI_INFO_NULL,
                              &request);
  repeat(&request, "Neighbor_allgather_init", 2 * block, NULL);
  MPI_Neighbor_allgatherv_init(send, block, MPI_FLOAT, receive, counts, places, MPI_FLOAT, ring,
                               MPI_INFO_NULL, &request);
  repeat(&request, "Neighbor_allgatherv_init", 2 * block, NULL);
  for (int i = 0; i < 2; ++i)
    for (long k = 0; k < block; ++k) /* in a pair, block i of the other rank */
      exact[i * (long)block + k] = value(around[i], (size == 2 ? i : 1 - i) * (long)block + k);
  MPI_Neighbor_alltoall_init(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, ring, MPI_INFO_NULL,
                             &request);
  repeat(&request, "Neighbor_alltoall_init", 2 * block, NULL);
  MPI_Neighbor_alltoallv_init(send, counts, places, MPI_FLOAT, receive, counts, places, MPI_FLOAT, ring,
                              MPI_INFO_NULL, &request);
  repeat(&request, "Neighbor_alltoallv_init", 2 * block, NULL);
  MPI_Neighbor_alltoallw_init(send, counts, bytes, types, receive, counts, bytes, types, ring, MPI_INFO_NULL,
                              &request);
  repeat(&request, "Neighbor_alltoallw_init", 2 * block, NULL);
  MPI_Comm_free(&ring);
}

/* MPICH reads the arrays of a vector call when the call is created: arrays that mpi4py passes do not last. */
static void arrays_that_go(void) {
#ifdef MPICH_VERSION
  const struct vectors all = lay_out();
  MPI_Count counts[most_ranks];
  MPI_Aint displs[most_ranks];
  MPI_Request request;
  for (int r = 0; r < size; ++r) counts[r] = all.counts[r], displs[r] = all.displs[r];
  expect_gaps(&all);
  MPI_Allgatherv_init_c(send, counts[rank], MPI_FLOAT, receive, counts, displs, MPI_FLOAT, comm,
                        MPI_INFO_NULL, &request);
  memset(counts, rank, sizeof counts), memset(displs, rank, sizeof displs);
  repeat(&request, "Allgatherv_init_c", (long)size * block, NULL);
#endif
}

/* ---- Persistent calls among others */

enum { pieces = 5 };
static float parts[2][most_ranks * block];
static int sent, got;
static MPI_Request some[pieces]; /* a receive, a call, a send, a call, a nonblocking call */

static void prepare_some(void) {
  const int n = size * block, next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Recv_init(&got, 1, MPI_INT, before, tag, comm, &some[0]);
  MPI_Allreduce_init(send, parts[0], n, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &some[1]);
  MPI_Send_init(&sent, 1, MPI_INT, next, tag, comm, &some[2]);
  MPI_Allgather_init(send, block, MPI_FLOAT, parts[1], block, MPI_FLOAT, comm, MPI_INFO_NULL, &some[3]);
  begin();
}

static void start_some(void) {
  sent = rank + 100;
  got = -1;
  memset(parts, 0x5a, sizeof parts);
  memset(receive, 0x5a, sizeof receive);
  MPI_Startall(pieces - 1, some);
  MPI_Iallreduce(send, receive, size * block, MPI_FLOAT, MPI_SUM, comm, &some[4]);
}

static void end_some(const char* way) {
  const int n = size * block;
  char name[100];
  if (got != (rank + size - 1) % size + 100) fail(way);
  for (int i = 0; i < pieces - 1; ++i)
    if (some[i] == MPI_REQUEST_NULL) fail(way);
  if (some[pieces - 1] != MPI_REQUEST_NULL) fail(way);
  expect_sum(n, 0), snprintf(name, sizeof name, "Iallreduce,%s", way), came(name, n);
  memcpy(receive, parts[0], sizeof receive);
  snprintf(name, sizeof name, "Allreduce_init,%s", way), came(name, n);
  memcpy(receive, parts[1], sizeof receive), expect_blocks(block, -1, 0);
  snprintf(name, sizeof name, "Allgather_init,%s", way), came(name, n);
}

static void completions(void) {
  MPI_Status status, statuses[pieces];
  int flag = 0, index = -1, outcount = 0, indices[pieces];
  prepare_some();
  start_some(), MPI_Waitall(pieces, some, statuses), end_some("Waitall");
  start_some();
  for (int i = 0; i < pieces; ++i) {
    MPI_Waitany(pieces, some, &index, &status);
    if (index < 0 || index >= pieces) fail("Waitany");
  }
  MPI_Waitany(pieces, some, &index, &status);
  if (index != MPI_UNDEFINED) fail("Waitany");
  end_some("Waitany");
  start_some();
  for (int left = pieces; left > 0; left -= outcount)
    MPI_Waitsome(pieces, some, &outcount, indices, statuses);
  end_some("Waitsome");
  start_some(); /* MPICH (4.0.2, 5.0.2) reports in MPI_Testall that its own persistent calls have failed */
  if (!served()) MPI_Waitall(pieces, some, MPI_STATUSES_IGNORE);
  for (flag = !served(); !flag;) MPI_Testall(pieces, some, &flag, MPI_STATUSES_IGNORE);
  end_some("Testall");
  start_some();
  for (int left = pieces; left > 0; left -= flag) MPI_Testany(pieces, some, &index, &flag, &status);
  end_some("Testany");
  start_some();
  for (flag = 0; !flag;) MPI_Request_get_status(some[1], &flag, &status);
  for (int i = pieces; i-- > 0;)
    for (flag = 0; !flag;) MPI_Test(&some[i], &flag, &status);
  end_some("Test");
  for (int i = 0; i < pieces - 1; ++i) MPI_Request_free(&some[i]);
}

/* The first rank blocks in another call, the other ranks wait first. */
static void waits_elsewhere(void) {
  MPI_Request request;
  begin();
  MPI_Allreduce_init(send, receive, size * block, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  if (rank != 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* inactive */
  MPI_Request_free(&request);
  expect_sum((long)size * block, 0), came("Allreduce_init,Barrier", (long)size * block);
}

/* Frees a type and a communicator during a call, and starts calls in different orders on the ranks; the freed
   communicator and the orders only for calls that Taut serves: not every MPI supports them. Open MPI (5.0)
   reads a freed type when it starts a persistent call of its own, so the type stays for these calls. */
static void freed(void) {
  const int n = size * block, turned = served() && rank % 2;
#ifdef OPEN_MPI
  const int frees_type = served();
#else
  const int frees_type = 1;
#endif
  MPI_Request both[2];
  MPI_Datatype type;
  MPI_Comm other;
  MPI_Comm_dup(comm, &other);
  MPI_Type_contiguous(block, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  begin(), memset(parts, 0x5a, sizeof parts);
  MPI_Allreduce_init(send, parts[0], n, MPI_FLOAT, MPI_SUM, other, MPI_INFO_NULL, &both[0]);
  MPI_Allgather_init(send, 1, type, receive, 1, type, other, MPI_INFO_NULL, &both[1]);
  if (frees_type) MPI_Type_free(&type);
  MPI_Start(&both[turned]);
  MPI_Start(&both[1 - turned]);
  if (served()) MPI_Comm_free(&other);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  if (!served()) MPI_Comm_free(&other);
  for (int i = 0; i < 2; ++i) MPI_Request_free(&both[i]);
  if (!frees_type) MPI_Type_free(&type);
  expect_blocks(block, -1, 0), came("Allgather_init,freed", n);
  memcpy(receive, parts[0], sizeof receive), expect_sum(n, 0), came("Allreduce_init,freed", n);
}

/* Plain MPI does not detect counts that differ, or hangs: only for calls that Taut serves. */
static void errors(void) {
  MPI_Comm other;
  MPI_Request request;
  const int count = block - (rank == 0);
  if (!served() || !errors_return) return;
  MPI_Comm_dup(comm, &other);
  MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  MPI_Allgather_init(send, count, MPI_FLOAT, receive, count, MPI_FLOAT, other, MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    if (MPI_Start(&request) != MPI_SUCCESS) fail("MPI_Start");
    if (!truncated(MPI_Wait(&request, MPI_STATUS_IGNORE))) fail("different counts");
    ++made, ++persistent;
  }
  MPI_Request_free(&request);
  MPI_Comm_free(&other);
}

static void product(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((int*)inout)[i] *= ((int*)in)[i];
}

/* Calls that always fall back to plain MPI. */
static void plain(void) {
  int word = 2, result = 0, power = 1;
  MPI_Request request;
  MPI_Op own;
  MPI_Op_create(product, 1, &own);
  MPI_Allreduce_init(&word, &result, 1, MPI_INT, own, comm, MPI_INFO_NULL, &request);
  for (int i = 0; i < starts; ++i) {
    result = 0;
    MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = power = 1; r <= size; ++r) power *= 2;
    if (result != power) fail("an operator of the program's");
  }
  MPI_Request_free(&request), MPI_Op_free(&own);
}

static void all_calls(MPI_Comm on, const char* title) {
  use(on, title);
  reductions();
  movements();
  vectors();
  neighbours();
  arrays_that_go();
  completions();
  waits_elsewhere();
  freed();
  errors();
  plain();
}

int main(int argc, char** argv) { return make_calls(argc, argv, all_calls, &persistent); }

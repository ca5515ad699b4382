/* A program of plain MPI that makes the nonblocking collective calls which the drop-in intercepts, among
   messages and other calls, completes them in every way that MPI has, and writes the results as calls.c
   does. */
#include "calls.h"

static int nonblocking;

static void came(const char* name, long n) {
  end(name, n);
  ++nonblocking;
}

static void reductions(void) {
  const int n = size * block, root = size - 1;
  int counts[most_ranks];
  MPI_Request request;
  for (int r = 0; r < size; ++r) counts[r] = block;

  begin(), expect_sum(n, 0);
  MPI_Iallreduce(send, receive, n, MPI_FLOAT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Iallreduce", n);
  begin(), memcpy(receive, send, sizeof(float) * (size_t)n);
  MPI_Iallreduce(MPI_IN_PLACE, receive, n, MPI_FLOAT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Iallreduce,in_place", n);
  begin();
  MPI_Ireduce(send, receive, n, MPI_FLOAT, MPI_SUM, root, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Ireduce", rank == root ? n : 0);
  begin(), expect_sum(block, (long)rank * block);
  MPI_Ireduce_scatter_block(send, receive, block, MPI_FLOAT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Ireduce_scatter_block", block);
  begin();
  MPI_Ireduce_scatter(send, receive, counts, MPI_FLOAT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Ireduce_scatter", block);
  begin(), expect_prefix(n, rank + 1);
  MPI_Iscan(send, receive, n, MPI_FLOAT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Iscan", n);
  begin(), expect_prefix(n, rank), memcpy(receive, send, sizeof(float) * (size_t)n);
  MPI_Iexscan(MPI_IN_PLACE, receive, n, MPI_FLOAT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Iexscan,in_place", rank > 0 ? n : 0);
}

static void movements(void) {
  const int n = size * block, root = size - 1;
  MPI_Request request;
  begin();
  if (rank == root) fill(receive, n, 0, root);
  for (long i = 0; i < n; ++i) exact[i] = value(root, i);
  MPI_Ibcast(receive, n, MPI_FLOAT, root, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Ibcast", n);
  begin(), expect_blocks(block, -1, 0);
  MPI_Iallgather(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Iallgather", n);
  begin(), fill(receive + rank * block, block, 0, rank);
  MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, block, MPI_FLOAT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Iallgather,in_place", n);
  begin();
  MPI_Igather(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, root, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Igather", rank == root ? n : 0);
  begin();
  for (long i = 0; i < block; ++i) exact[i] = value(root, (long)rank * block + i);
  MPI_Iscatter(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, root, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Iscatter", block);
  begin(), expect_blocks(block, -1, (long)rank * block);
  MPI_Ialltoall(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Ialltoall", n);
}

/* Vector calls in reverse order of ranks; MPI does not use the arrays after the call has returned. */
static void vectors(void) {
  const int root = size - 1;
  const struct vectors all = lay_out();
  const int *const counts = all.counts, *const displs = all.displs;
  const int own = counts[rank];
  MPI_Request request;
  expect_gaps(&all);
  begin();
  MPI_Iallgatherv(send, own, MPI_FLOAT, receive, counts, displs, MPI_FLOAT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Iallgatherv", (long)size * block);
  begin();
  MPI_Igatherv(send, own, MPI_FLOAT, receive, rank == root ? counts : NULL, rank == root ? displs : NULL,
               MPI_FLOAT, root, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Igatherv", rank == root ? (long)size * block : 0);
  begin();
  for (long i = 0; i < own; ++i) exact[i] = value(root, displs[rank] + i);
  MPI_Iscatterv(send, rank == root ? counts : NULL, rank == root ? displs : NULL, MPI_FLOAT, receive, own,
                MPI_FLOAT, root, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Iscatterv", own);
  begin();
  expect_row(&all);
  MPI_Ialltoallv(send, counts, displs, MPI_FLOAT, receive, all.mine, all.places, MPI_FLOAT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Ialltoallv", (long)size * own);
  const struct typed bytes = lay_out_bytes(&all);
  begin();
  MPI_Ialltoallw(send, counts, bytes.from, bytes.types, receive, all.mine, bytes.to, bytes.types, comm,
                 &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Ialltoallw", (long)size * own);
}

/* ---- Two calls and two messages at a time */

enum { tag = 5, pieces = 4 };
static float parts[2][most_ranks * block];
static int sent, got;
static MPI_Request some[pieces];

/* Starts two calls of each kind, with a message to the next rank and one from the rank before among them. */
static void start_some(void) {
  const int n = size * block, next = (rank + 1) % size, before = (rank + size - 1) % size;
  sent = rank + 100;
  got = -1;
  memset(parts, 0x5a, sizeof parts);
  fill(parts[1], block, 0, rank);
  MPI_Irecv(&got, 1, MPI_INT, before, tag, comm, &some[0]);
  MPI_Iallreduce(send, parts[0], n, MPI_FLOAT, MPI_SUM, comm, &some[1]);
  MPI_Isend(&sent, 1, MPI_INT, next, tag, comm, &some[2]);
  MPI_Iallgather(send, block, MPI_FLOAT, parts[1], block, MPI_FLOAT, comm, &some[3]);
}

static void check_message(const MPI_Status* status, const char* way) {
  int count = 0;
  const int before = (rank + size - 1) % size;
  MPI_Get_count(status, MPI_INT, &count);
  if (status->MPI_SOURCE != before || status->MPI_TAG != tag || count != 1 || got != before + 100) fail(way);
}

static void end_some(const char* way) {
  const int n = size * block;
  char name[100];
  for (int i = 0; i < pieces; ++i)
    if (some[i] != MPI_REQUEST_NULL) fail(way);
  memcpy(receive, parts[0], sizeof receive), expect_sum(n, 0);
  snprintf(name, sizeof name, "Iallreduce,%s", way), came(name, n);
  memcpy(receive, parts[1], sizeof receive), expect_blocks(block, -1, 0);
  snprintf(name, sizeof name, "Iallgather,%s", way), came(name, n);
}

static void completions(void) {
  MPI_Status status, statuses[pieces];
  int flag = 0, index = -1, outcount = 0, indices[pieces];
  begin();

  start_some();
  MPI_Waitall(pieces, some, statuses);
  check_message(&statuses[0], "Waitall");
  end_some("Waitall");

  start_some();
  for (int i = 0; i < pieces; ++i) {
    MPI_Waitany(pieces, some, &index, &status);
    if (index < 0 || index >= pieces) fail("Waitany");
    if (index == 0) check_message(&status, "Waitany");
  }
  MPI_Waitany(pieces, some, &index, &status);
  if (index != MPI_UNDEFINED) fail("Waitany");
  end_some("Waitany");

  start_some();
  for (int left = pieces; left > 0; left -= outcount) {
    MPI_Waitsome(pieces, some, &outcount, indices, statuses);
    if (outcount < 1 || outcount > left) fail("Waitsome");
    for (int i = 0; i < outcount; ++i)
      if (indices[i] == 0) check_message(&statuses[i], "Waitsome");
  }
  MPI_Waitsome(pieces, some, &outcount, indices, statuses);
  if (outcount != MPI_UNDEFINED) fail("Waitsome");
  end_some("Waitsome");

  start_some();
  for (flag = 0; !flag;) MPI_Testall(pieces, some, &flag, statuses);
  check_message(&statuses[0], "Testall");
  end_some("Testall");

  start_some();
  for (int left = pieces; left > 0; left -= flag) MPI_Testany(pieces, some, &index, &flag, &status);
  end_some("Testany");

  start_some();
  for (int left = pieces; left > 0; left -= outcount)
    MPI_Testsome(pieces, some, &outcount, indices, MPI_STATUSES_IGNORE);
  end_some("Testsome");

  start_some();
  for (flag = 0; !flag;) MPI_Request_get_status(some[1], &flag, &status);
  for (int i = pieces; i-- > 0;)
    for (flag = 0; !flag;) MPI_Test(&some[i], &flag, &status);
  check_message(&status, "Test");
  end_some("Test");
}

/* ---- Ranks that wait in different calls: the first rank enters the other call before it has waited, the
   other ranks after that. The first rank's part must progress while it waits there. */

static MPI_Request early;

static void start_early(MPI_Comm on) {
  begin();
  MPI_Iallreduce(send, receive, size * block, MPI_FLOAT, MPI_SUM, on, &early);
  if (rank != 0) MPI_Wait(&early, MPI_STATUS_IGNORE);
}

static void end_early(const char* name) {
  MPI_Wait(&early, MPI_STATUS_IGNORE);
  expect_sum((long)size * block, 0);
  came(name, (long)size * block);
}

static void waits_elsewhere(void) {
  const int last = size - 1;
  int word = rank;
  MPI_Comm other;
  MPI_Win window;

  start_early(comm), MPI_Barrier(comm), end_early("Iallreduce,Barrier");
  start_early(comm);
  if (rank == last) MPI_Send(&word, 1, MPI_INT, 0, tag, comm);
  if (rank == 0) MPI_Recv(&word, 1, MPI_INT, last, tag, comm, MPI_STATUS_IGNORE);
  end_early("Iallreduce,Recv");
  start_early(comm);
  if (rank == last) MPI_Send(&word, 1, MPI_INT, 0, tag, comm);
  if (rank == 0) {
    MPI_Request request;
    MPI_Irecv(&word, 1, MPI_INT, last, tag, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  end_early("Iallreduce,Wait");
  start_early(comm), MPI_Comm_dup(comm, &other), end_early("Iallreduce,Comm_dup");
  start_early(other); /* the first call on a communicator */
  MPI_Bcast(&word, 1, MPI_INT, last, other), ++made;
  end_early("Iallreduce,first");
  MPI_Comm_free(&other);
  start_early(comm), MPI_Comm_split(comm, rank % 2, rank, &other), end_early("Iallreduce,Comm_split");
  MPI_Comm_free(&other);

  start_early(comm), MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, comm, &window);
  end_early("Iallreduce,Win_create");
  start_early(comm), MPI_Win_fence(0, window), end_early("Iallreduce,Win_fence");
  MPI_Win_free(&window);
}

/* Returns true if Taut serves nonblocking calls, for tests that plain MPI would not pass. */
static int served(void) { return getenv("TAUT_NONBLOCKING") != NULL; }

/* The first rank waits for a lock of the last rank, which waits for the first rank's part of a call: MPICH
   alone hangs. */
static void waits_for_a_lock(void) {
  const int last = size - 1;
  int *memory, word = rank;
  MPI_Win window;
  if (!served()) return;
  MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, comm, &memory, &window);
  if (rank == last) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Barrier(comm);
  start_early(comm);
  if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  if (rank == 0 || rank == last) {
    MPI_Put(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
  }
  MPI_Wait(&early, MPI_STATUS_IGNORE), ++made, ++nonblocking;
  MPI_Win_free(&window);
}

/* Plain MPI does not detect counts that differ, or hangs: only for calls that Taut serves. */
static void errors(void) {
  MPI_Comm other;
  MPI_Request request;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0, count = block - (rank == 0), code;
  if (!served() || !errors_return) return;
  MPI_Comm_dup(comm, &other);
  MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Iallgather(send, count, MPI_FLOAT, receive, count, MPI_FLOAT, other, &request);
  code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Error_string(code, text, &length);
  if (code == MPI_SUCCESS || strncmp(text, "Taut: ", 6) != 0) fail("different counts");
  MPI_Iallgather(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, other, &request);
  if (MPI_Cancel(&request) == MPI_SUCCESS) fail("MPI_Cancel");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&other);
  made += 2, nonblocking += 2;
}

/* Has several calls in flight with blocking calls between them, and frees a communicator before they
   complete. */
static void several(void) {
  const int n = size * block;
  MPI_Request requests[3];
  MPI_Comm other;
  MPI_Comm_dup(comm, &other);
  begin(), memset(parts, 0x5a, sizeof parts), expect_sum(n, 0);
  MPI_Iallreduce(send, parts[0], n, MPI_FLOAT, MPI_SUM, comm, &requests[0]);
  MPI_Iallreduce(send, parts[1], n, MPI_FLOAT, MPI_SUM, other, &requests[1]);
  MPI_Allreduce(send, receive, n, MPI_FLOAT, MPI_SUM, comm), end("Allreduce,between", n);
  memset(receive, 0x5a, sizeof receive);
  MPI_Iallreduce(send, receive, n, MPI_FLOAT, MPI_SUM, comm, &requests[2]);
  MPI_Comm_free(&other);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE), came("Iallreduce,third", n);
  memcpy(receive, parts[0], sizeof receive), came("Iallreduce,one_of_three", n);
  memcpy(receive, parts[1], sizeof receive), came("Iallreduce,freed", n);
}

static void all_calls(MPI_Comm on, const char* title) {
  use(on, title);
  reductions();
  movements();
  vectors();
  completions();
  waits_elsewhere();
  waits_for_a_lock();
  several();
  errors();
}

int main(int argc, char** argv) { return make_calls(argc, argv, all_calls, &nonblocking); }

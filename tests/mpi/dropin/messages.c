/* A program of plain MPI that sends messages around a ring, receives and completes them in every way that the
   drop-in tracks, and writes the results as calls.c does. */
#include "calls.h"

enum { tag = 5, other_tag = 6, pieces = 3 };
static int before, next, of; /* ranks before and after this one; number of values in a message */
static float strided[2 * most_ranks * block];
static int no_calls;

static void start(int n) {
  of = n;
  begin(), fill(send, n, 0, rank);
  for (long i = 0; i < n; ++i) exact[i] = value(before, i);
}

/* No collective call. */
static void came(const char* name) {
  end(name, of);
  --made;
}

static void check(const MPI_Status* status, const char* name) {
  int count = -1, bytes = -1;
  MPI_Get_count(status, MPI_FLOAT, &count);
  MPI_Get_count(status, MPI_BYTE, &bytes);
  if (status->MPI_SOURCE != before || status->MPI_TAG != tag || count != of || bytes != 4 * of) fail(name);
}

static MPI_Request sending(int n) {
  MPI_Request request;
  MPI_Isend(send, n, MPI_FLOAT, next, tag, comm, &request);
  return request;
}

static void blocking(int n) {
  MPI_Status status;
  char name[100];
  start(n), snprintf(name, sizeof name, "Recv,%d", n);
  if (rank == 0) MPI_Send(send, n, MPI_FLOAT, next, tag, comm);
  MPI_Recv(receive, n, MPI_FLOAT, before, tag, comm, &status), check(&status, name);
  if (rank != 0) MPI_Send(send, n, MPI_FLOAT, next, tag, comm);
  came(name);
}

static void receives(int n) {
  MPI_Status status;
  MPI_Request request, replaced;
  int word = rank;
  start(n), request = sending(n);
  MPI_Recv(receive, most_ranks * block, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  check(&status, "wildcards"), MPI_Wait(&request, MPI_STATUS_IGNORE), came("Recv,wildcards");
  start(n), request = sending(n);
  MPI_Recv(receive, n, MPI_FLOAT, before, tag, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Recv,ignore");
  start(n), request = sending(n);
  MPI_Recv(receive, 4 * n, MPI_BYTE, before, tag, comm, &status);
  check(&status, "bytes"), MPI_Wait(&request, MPI_STATUS_IGNORE), came("Recv,bytes");
  start(n), request = sending(n);
  MPI_Sendrecv(&word, 1, MPI_INT, before, other_tag, receive, n, MPI_FLOAT, before, tag, comm, &status);
  check(&status, "Sendrecv"), MPI_Recv(&word, 1, MPI_INT, next, other_tag, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Sendrecv,received");
  start(n);
  MPI_Sendrecv(send, n, MPI_FLOAT, next, tag, receive, n, MPI_FLOAT, before, tag, comm, &status);
  check(&status, "Sendrecv"), came("Sendrecv");
  start(n), request = sending(n);
  MPI_Irecv(strided, n, MPI_FLOAT, next, other_tag, comm, &replaced);
  MPI_Sendrecv_replace(receive, n, MPI_FLOAT, before, other_tag, before, tag, comm, &status);
  check(&status, "Sendrecv_replace"), MPI_Wait(&replaced, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Sendrecv_replace");
}

/* Receives into every other float of a buffer, by a type that is freed before the message arrives. */
static void gaps(int n) {
  MPI_Datatype type;
  MPI_Request both[2];
  MPI_Status statuses[2];
  for (int more = 0; more < 2; ++more) { /* with space for the message only, and for more */
    start(n), memset(strided, 0x5a, sizeof strided);
    MPI_Type_vector(n + 100 * more, 1, 2, MPI_FLOAT, &type), MPI_Type_commit(&type);
    MPI_Irecv(strided, 1, type, before, tag, comm, &both[0]), MPI_Type_free(&type);
    both[1] = sending(n);
    MPI_Waitall(2, both, statuses);
    int elements = 0;
    MPI_Get_elements(&statuses[0], MPI_FLOAT, &elements);
    if (elements != n) fail("gaps");
    for (long i = 0; i < n; ++i) {
      receive[i] = strided[2 * i];
      if (memcmp(&strided[2 * i + 1], "ZZZZ", 4) != 0) fail("gaps");
    }
    if (memcmp(&strided[2 * n + 1], "ZZZZZZZZ", 8) != 0) fail("behind the message");
    came("Irecv,gaps");
  }
}

/* Sends every other float, by a type that is freed before the message is sent. */
static void sends_gaps(int n) {
  MPI_Datatype type;
  MPI_Request both[2];
  MPI_Status statuses[2];
  MPI_Type_vector(n, 1, 2, MPI_FLOAT, &type), MPI_Type_commit(&type);
  for (int persistent = 0; persistent < 2; ++persistent) {
    start(n), memset(strided, 0x5a, sizeof strided);
    for (long i = 0; i < n; ++i) strided[2 * i] = send[i];
    MPI_Irecv(receive, n, MPI_FLOAT, before, tag, comm, &both[0]);
    if (persistent)
      MPI_Send_init(strided, 1, type, next, tag, comm, &both[1]), MPI_Type_free(&type), MPI_Start(&both[1]);
    else
      MPI_Isend(strided, 1, type, next, tag, comm, &both[1]);
    MPI_Waitall(2, both, statuses), check(&statuses[0], "Isend,gaps");
    if (persistent) MPI_Request_free(&both[1]);
    came("Isend,gaps");
  }
}

static MPI_Request some[pieces];
static int got;

static void start_some(int n) { /* a long receive, a send, a short receive */
  start(n), got = -1;
  MPI_Irecv(&got, 1, MPI_INT, before, other_tag, comm, &some[2]);
  MPI_Irecv(receive, n, MPI_FLOAT, MPI_ANY_SOURCE, tag, comm, &some[0]);
  some[1] = sending(n);
  MPI_Send(&rank, 1, MPI_INT, next, other_tag, comm);
}

static void end_some(const char* name) {
  for (int i = 0; i < pieces; ++i)
    if (some[i] != MPI_REQUEST_NULL) fail(name);
  if (got != before) fail(name);
  came(name);
}

static void completions(int n) {
  MPI_Status status, statuses[pieces];
  int flag = 0, index = -1, outcount = 0, indices[pieces];
  start_some(n), MPI_Waitall(pieces, some, statuses), check(&statuses[0], "Waitall"), end_some("Waitall");
  start_some(n), MPI_Waitall(pieces, some, MPI_STATUSES_IGNORE), end_some("Waitall,ignore");
  start_some(n);
  for (int i = 0; i < pieces; ++i) {
    MPI_Waitany(pieces, some, &index, &status);
    if (index == 0) check(&status, "Waitany");
  }
  MPI_Waitany(pieces, some, &index, &status);
  if (index != MPI_UNDEFINED) fail("Waitany");
  end_some("Waitany");
  start_some(n);
  for (int left = pieces; left > 0; left -= outcount) {
    MPI_Waitsome(pieces, some, &outcount, indices, statuses);
    for (int i = 0; i < outcount; ++i)
      if (indices[i] == 0) check(&statuses[i], "Waitsome");
  }
  end_some("Waitsome");
  start_some(n);
  for (flag = 0; !flag;) MPI_Testall(pieces, some, &flag, statuses);
  check(&statuses[0], "Testall"), end_some("Testall");
  start_some(n);
  for (int left = pieces; left > 0; left -= flag) MPI_Testany(pieces, some, &index, &flag, &status);
  end_some("Testany");
  start_some(n);
  for (int left = pieces; left > 0; left -= outcount)
    MPI_Testsome(pieces, some, &outcount, indices, MPI_STATUSES_IGNORE);
  end_some("Testsome");
  start_some(n);
  for (flag = 0; !flag;) MPI_Request_get_status(some[0], &flag, &status);
  check(&status, "Request_get_status");
  for (int i = pieces; i-- > 0;)
    for (flag = 0; !flag;) MPI_Test(&some[i], &flag, &status);
  check(&status, "Test"), end_some("Test");
}

/* Tests requests together before they are completed. A program built with MPI 4.1 may run with an older
   library. */
static void looks(int n) {
#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
  int version = 0, subversion = 0, flag = 0, index = -1, outcount = 0, indices[pieces];
  MPI_Status status, statuses[pieces];
  MPI_Get_version(&version, &subversion);
  if (version * 10 + subversion < 41) return;
  start_some(n);
  while (!flag) MPI_Request_get_status_all(pieces, some, &flag, statuses);
  check(&statuses[0], "Request_get_status_all");
  MPI_Request_get_status_some(pieces, some, &outcount, indices, statuses);
  if (outcount != pieces) fail("Request_get_status_some");
  for (int i = 0; i < outcount; ++i)
    if (indices[i] == 0) check(&statuses[i], "Request_get_status_some");
  MPI_Request_get_status_any(1, some, &index, &flag, &status);
  if (!flag || index != 0) fail("Request_get_status_any");
  check(&status, "Request_get_status_any");
  MPI_Waitall(pieces, some, statuses), check(&statuses[0], "Waitall"), end_some("Request_get_status_all");
  start_some(n);
  for (flag = 0, index = -1; !flag || index < 0;)
    MPI_Request_get_status_any(pieces, some, &index, &flag, &status);
  if (index == 0) check(&status, "Request_get_status_any");
  MPI_Waitall(pieces, some, MPI_STATUSES_IGNORE), end_some("Request_get_status_any");
#else
  (void)n;
#endif
}

static void persistent(int n) {
  MPI_Status status;
  MPI_Request expecting, request;
  MPI_Recv_init(receive, n, MPI_FLOAT, before, tag, comm, &expecting);
  for (int i = 0; i < 3; ++i) {
    start(n), MPI_Start(&expecting), request = sending(n);
    MPI_Wait(&expecting, &status), check(&status, "Recv_init");
    MPI_Wait(&expecting, MPI_STATUS_IGNORE); /* inactive */
    MPI_Wait(&request, MPI_STATUS_IGNORE), came("Recv_init");
  }
  MPI_Request_free(&expecting);
}

/* Tests every kind of send. A synchronous send does not complete before its receive has begun; a ready send
   begins after it. */
static void sends(int n) {
  MPI_Request request;
  int there = 0;
  start(n), MPI_Irecv(receive, n, MPI_FLOAT, before, tag, comm, &request);
  MPI_Ssend(send, n, MPI_FLOAT, next, tag, comm), MPI_Wait(&request, MPI_STATUS_IGNORE), came("Ssend");
  start(n), MPI_Irecv(receive, n, MPI_FLOAT, before, tag, comm, &request);
  MPI_Barrier(comm), MPI_Rsend(send, n, MPI_FLOAT, next, tag, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Rsend");
  start(n), MPI_Issend(send, n, MPI_FLOAT, next, tag, comm, &request), MPI_Barrier(comm);
  for (int i = 0; i < 100; ++i) {
    MPI_Test(&request, &there, MPI_STATUS_IGNORE);
    if (there) fail("Issend");
  }
  MPI_Barrier(comm), MPI_Recv(receive, n, MPI_FLOAT, before, tag, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Issend");
  MPI_Request both[2];
  start(n), MPI_Irecv(receive, n, MPI_FLOAT, before, tag, comm, &both[0]);
  MPI_Barrier(comm), MPI_Irsend(send, n, MPI_FLOAT, next, tag, comm, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE), came("Irsend");
}

/* Each start of a persistent send sends the buffer's current values; the second time rank 0 starts after the
   other ranks. */
static void persistent_sends(int n, const char* name,
                             int (*init)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*)) {
  MPI_Request requests[2], *const out_request = &requests[0], *const in = &requests[1];
  init(send, n, MPI_FLOAT, next, tag, comm, out_request);
  for (int i = 0; i < 4; ++i) {
    start(n), fill(send, n, 5 * i, rank);
    for (long k = 0; k < n; ++k) exact[k] = value(before, 5 * i + k);
    MPI_Irecv(receive, n, MPI_FLOAT, before, tag, comm, in), MPI_Barrier(comm);
    if (i == 1 && rank == 0) MPI_Wait(in, MPI_STATUS_IGNORE);
    if (i % 2)
      MPI_Start(out_request);
    else
      MPI_Startall(1, out_request);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (*out_request == MPI_REQUEST_NULL) fail(name);
    MPI_Wait(out_request, MPI_STATUS_IGNORE); /* inactive */
    came(name);
  }
  start(n), MPI_Irecv(receive, n, MPI_FLOAT, before, tag, comm, in), MPI_Barrier(comm);
  MPI_Start(out_request), MPI_Request_free(out_request); /* without waiting for it */
  MPI_Wait(in, MPI_STATUS_IGNORE), MPI_Barrier(comm), came(name);
}

/* Long and short messages of one tag arrive in the order of their sends; so does a message of this rank to
   itself. */
static void order(int n) {
  float words[2] = {1, 2}, came_words[2] = {0, 0};
  MPI_Request requests[3], self;
  start(n);
  MPI_Isend(&words[0], 1, MPI_FLOAT, next, tag, comm, &requests[0]);
  requests[1] = sending(n);
  MPI_Isend(&words[1], 1, MPI_FLOAT, next, tag, comm, &requests[2]);
  MPI_Recv(&came_words[0], 1, MPI_FLOAT, before, tag, comm, MPI_STATUS_IGNORE);
  MPI_Recv(receive, n, MPI_FLOAT, before, tag, comm, MPI_STATUS_IGNORE);
  MPI_Recv(&came_words[1], 1, MPI_FLOAT, before, tag, comm, MPI_STATUS_IGNORE);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  if (came_words[0] != 1 || came_words[1] != 2) fail("order");
  came("order");
  start(n);
  for (long i = 0; i < n; ++i) exact[i] = value(rank, i);
  MPI_Irecv(receive, n, MPI_FLOAT, rank, tag, comm, &self);
  MPI_Send(send, n, MPI_FLOAT, rank, tag, comm), MPI_Wait(&self, MPI_STATUS_IGNORE), came("to oneself");
}

/* Values for which no bound holds arrive unchanged. */
static void odd_values(int n) {
  MPI_Request request;
  start(n);
  for (long i = 0; i < n; i += 1000) send[i] = i % 3000 ? NAN : INFINITY;
  request = sending(n);
  MPI_Recv(receive, n, MPI_FLOAT, before, tag, comm, MPI_STATUS_IGNORE),
      MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (long i = 0; i < n; i += 1000) {
    if (i % 3000 ? !isnan(receive[i]) : receive[i] != INFINITY) fail("NaN");
    receive[i] = (float)exact[i];
  }
  came("NaN");
}

/* Receives with too little space for the values but enough for their frame; and a receive whose message never
   comes. */
static void errors(int n) {
  MPI_Comm other;
  MPI_Request request;
  MPI_Status status;
  int cancelled = 0;
  if (!errors_return) return;
  MPI_Comm_dup(comm, &other), MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  start(n);
  MPI_Isend(send, n, MPI_FLOAT, next, tag, other, &request);
  if (!truncated(MPI_Recv(receive, n - 1, MPI_FLOAT, before, tag, other, &status))) fail("Recv, too short");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Irecv(receive, n, MPI_FLOAT, before, tag, other, &request);
  MPI_Cancel(&request), MPI_Wait(&request, &status), MPI_Test_cancelled(&status, &cancelled);
  if (!cancelled) fail("Cancel");
  MPI_Comm_free(&other);
}

static void all_calls(MPI_Comm on, const char* title) {
  const int n = block * 2;
  use(on, title);
  before = (rank + size - 1) % size;
  next = (rank + 1) % size;
  blocking(0), blocking(1), blocking(1000), blocking(n), blocking(n + 1), blocking(most_ranks * block);
  receives(n);
  gaps(n), sends_gaps(n);
  completions(n);
  looks(n);
  persistent(n);
  sends(n);
  persistent_sends(n, "Send_init", MPI_Send_init), persistent_sends(n, "Ssend_init", MPI_Ssend_init);
  persistent_sends(n, "Rsend_init", MPI_Rsend_init);
  order(n);
  odd_values(n);
  errors(n);
}

int main(int argc, char** argv) { return make_calls(argc, argv, all_calls, &no_calls); }

/* A program of plain MPI that probes messages before it receives them, or other messages than it then
   receives, and writes the results as calls.c does. */
#include <pthread.h>

#include "calls.h"

enum { messages = 60, tags = 3, pending = 4, room = 2 * block };

/* A message of the rank before this one. Their order is fixed, so the program knows which message any receive
   gets. */
struct message {
  int tag, count, gone;
};
static struct message expected[messages];
static float *sent[messages], *got[messages];
static MPI_Request sends[messages];
static int before, next, no_calls;
static unsigned state;

static int draw(int below) {
  state = state * 1664525 + 1013904223;
  return (int)((state >> 8) % (unsigned)below);
}

static double value_of(int from, int k, long i) { return value(from, i + 37 * k); }

/* Draws the messages of rank `from` to the next rank. */
static void draw_messages(int from, struct message* all) {
  state = (unsigned)from + 1;
  for (int k = 0; k < messages; ++k) {
    const int lengths[] = {draw(1000), 20000, block + draw(block), room};
    all[k] = (struct message){draw(tags), lengths[draw(4)], 0};
  }
}

static void send_all(void) {
  struct message mine[messages];
  draw_messages(rank, mine);
  draw_messages(before, expected);
  for (int k = 0; k < messages; ++k) {
    sent[k] = malloc((size_t)room * sizeof(float));
    for (long i = 0; i < mine[k].count; ++i) sent[k][i] = (float)value_of(rank, k, i);
    MPI_Isend(sent[k], mine[k].count, MPI_FLOAT, next, mine[k].tag, comm, &sends[k]);
  }
}

static void end_sends(void) {
  MPI_Waitall(messages, sends, MPI_STATUSES_IGNORE);
  for (int k = 0; k < messages; ++k) free(sent[k]);
}

/* Returns the first message that a receive of this tag would get; -1: none. */
static int first(int tag) {
  for (int k = 0; k < messages; ++k)
    if (!expected[k].gone && (tag == MPI_ANY_TAG || tag == expected[k].tag)) return k;
  return -1;
}

static int any_tag(void) { return draw(3) ? draw(tags) : MPI_ANY_TAG; }
static int any_source(void) { return draw(2) ? before : MPI_ANY_SOURCE; }

static void check(const MPI_Status* status, int k, const char* name) {
  int count = -1, elements = -1;
  MPI_Get_count(status, MPI_FLOAT, &count);
  MPI_Get_elements(status, MPI_BYTE, &elements);
  if (status->MPI_SOURCE != before || status->MPI_TAG != expected[k].tag || count != expected[k].count ||
      elements != 4 * count)
    fail(name);
}

/* Keeps a copy of message k, which was received at `at`. */
static void came(const float* at, int k) {
  got[k] = malloc((size_t)room * sizeof *at);
  memcpy(got[k], at, (size_t)expected[k].count * sizeof *at);
}

/* Writes the kept messages in the order of their numbers; the order of completion depends on timing. */
static void write_all(void) {
  char text[100];
  for (int k = 0; k < messages; ++k) {
    memset(receive, 0x5a, sizeof receive);
    memcpy(receive, got[k], (size_t)expected[k].count * sizeof *receive), free(got[k]);
    for (long i = 0; i < expected[k].count; ++i) exact[i] = value_of(before, k, i);
    snprintf(text, sizeof text, "message,%d", k);
    end(text, expected[k].count), --made;
  }
}

/* ---- Probing */

static void look(void) {
  const int tag = any_tag(), k = first(tag), source = any_source();
  MPI_Status status;
  if (k < 0) return;
  if (draw(2)) {
    MPI_Probe(source, tag, comm, &status);
  } else {
    for (int there = 0; !there;) MPI_Iprobe(source, tag, comm, &there, &status);
  }
  check(&status, k, "probe");
}

/* ---- Receiving message k, which a receive of this tag gets */

static void receive_now(int kind, int k, int tag) {
  static float at[room];
  const int source = any_source();
  MPI_Status status;
  MPI_Message message;
  MPI_Request request = MPI_REQUEST_NULL;
  int there = 0;
  if (kind == 0) MPI_Recv(at, expected[k].count, MPI_FLOAT, source, tag, comm, &status);
  if (kind == 1) MPI_Recv(at, 4 * room, MPI_BYTE, source, tag, comm, &status);
  if (kind == 2)
    MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, at, room, MPI_FLOAT, source, tag, comm, &status);
  if (kind == 3) MPI_Sendrecv_replace(at, room, MPI_FLOAT, MPI_PROC_NULL, 0, source, tag, comm, &status);
  if (kind == 4) {
    MPI_Mprobe(source, tag, comm, &message, &status), check(&status, k, "Mprobe");
    MPI_Mrecv(at, expected[k].count, MPI_FLOAT, &message, &status);
  }
  if (kind == 5) {
    while (!there) MPI_Improbe(source, tag, comm, &there, &message, &status);
    check(&status, k, "Improbe");
    MPI_Imrecv(at, expected[k].count, MPI_FLOAT, &message, &request);
  }
#if MPI_VERSION >= 4
  if (kind == 6)
    MPI_Isendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, at, room, MPI_FLOAT, source, tag, comm, &request);
  if (kind == 7) MPI_Isendrecv_replace(at, room, MPI_FLOAT, MPI_PROC_NULL, 0, source, tag, comm, &request);
#endif
  if ((kind == 4 || kind == 5) && message != MPI_MESSAGE_NULL) fail("message");
  if (kind >= 5) MPI_Wait(&request, &status);
  if (request != MPI_REQUEST_NULL) fail("request");
  check(&status, k, "receive"), came(at, k);
}

/* Receives that complete later, by any function; the last ones are persistent. */
static MPI_Request requests[pending];
static float* places[pending];
static int which[pending];

static void begin_one(int slot, int k, int tag) {
  which[slot] = k;
  if (slot >= 2)
    MPI_Recv_init(places[slot], room, MPI_FLOAT, any_source(), tag, comm, &requests[slot]),
        MPI_Start(&requests[slot]);
  else
    MPI_Irecv(places[slot], room, MPI_FLOAT, any_source(), tag, comm, &requests[slot]);
}

static void end_one(int slot, const MPI_Status* status) {
  if ((slot < 2) != (requests[slot] == MPI_REQUEST_NULL)) fail("request");
  check(status, which[slot], "later"), came(places[slot], which[slot]);
  if (slot >= 2) MPI_Request_free(&requests[slot]);
  which[slot] = -1;
}

static void complete(int slot) {
  MPI_Status statuses[pending];
  int done = 0, indices[pending], how = draw(5);
  if (how == 0) MPI_Wait(&requests[slot], statuses), end_one(slot, statuses);
  while (how == 1 && !done) MPI_Test(&requests[slot], &done, statuses);
  if (how == 1) end_one(slot, statuses);
  if (how == 2) MPI_Waitany(pending, requests, &slot, statuses), end_one(slot, statuses);
  if (how == 3) {
    MPI_Waitsome(pending, requests, &done, indices, statuses);
    for (int i = 0; i < done; ++i) end_one(indices[i], &statuses[i]);
  }
  if (how == 4) {
    while (!done && slot < 2)
      MPI_Request_get_status(requests[slot], &done, statuses); /* MPICH: not persistent */
    if (slot < 2) check(statuses, which[slot], "get_status");
    MPI_Waitall(pending, requests, statuses);
    for (int i = 0; i < pending; ++i)
      if (which[i] >= 0) end_one(i, &statuses[i]);
  }
}

static void any_order(void) {
#if MPI_VERSION >= 4
  const int kinds = 8;
#else
  const int kinds = 6;
#endif
  send_all();
  state = 77 * (unsigned)rank + 1;
  for (int i = 0; i < pending; ++i) {
    requests[i] = MPI_REQUEST_NULL, which[i] = -1;
    places[i] = malloc((size_t)room * sizeof(float));
  }
  while (first(MPI_ANY_TAG) >= 0) {
    const int tag = any_tag(), k = first(tag), slot = draw(2 * pending);
    if (draw(2)) look();
    if (k < 0) continue;
    expected[k].gone = 1;
    if (slot >= pending || which[slot] >= 0)
      receive_now(draw(kinds), k, tag);
    else
      begin_one(slot, k, tag);
    if (slot < pending && which[slot] >= 0 && draw(2)) complete(slot);
  }
  for (int i = 0; i < pending; ++i) {
    if (which[i] >= 0) complete(i);
  }
  for (int i = 0; i < pending; ++i) {
    if (which[i] >= 0) fail("something is left");
    free(places[i]);
  }
  end_sends(), write_all();
}

/* ---- Special cases */

static MPI_Request send_long(MPI_Comm on, int tag) {
  MPI_Request request;
  fill(send, room, 0, rank);
  MPI_Isend(send, room, MPI_FLOAT, next, tag, on, &request);
  return request;
}

static void end_long(MPI_Request* request, const char* name) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  for (long i = 0; i < room; ++i) exact[i] = value(before, i);
  end(name, room), --made;
}

/* Receives a probed message into every other float, and frees the request of a receive that is in progress.
 */
static void others(void) {
  static float strided[2 * room];
  MPI_Datatype type;
  MPI_Status status;
  MPI_Request request = send_long(comm, 1), late;
  memset(receive, 0x5a, sizeof receive), memset(strided, 0x5a, sizeof strided);
  MPI_Type_vector(room, 1, 2, MPI_FLOAT, &type), MPI_Type_commit(&type);
  MPI_Probe(before, 1, comm, &status), MPI_Irecv(strided, 1, type, before, 1, comm, &late);
  MPI_Type_free(&type), MPI_Wait(&late, &status);
  for (long i = 0; i < room; ++i) {
    receive[i] = strided[2 * i];
    if (memcmp(&strided[2 * i + 1], "ZZZZ", 4) != 0) fail("gaps");
  }
  end_long(&request, "gaps");
  request = send_long(comm, 1), memset(receive, 0x5a, sizeof receive);
  MPI_Probe(before, 1, comm, MPI_STATUS_IGNORE);
  MPI_Irecv(receive, room, MPI_FLOAT, before, 1, comm, &late), MPI_Request_free(&late);
  for (int there;
       fabs(receive[0] - value(before, 0)) > 0.02 ||
       fabs(receive[room - 1] - value(before, room - 1)) > 0.02;) /* nothing reports when it has arrived */
    MPI_Iprobe(before, 2, comm, &there, MPI_STATUS_IGNORE);
  end_long(&request, "freed");
}

/* A persistent receive gets a probed message and is cancelled: either it has received the message, or another
   receive does. */
static void cancelled(void) {
  MPI_Status status;
  MPI_Request persistent, request;
  int gone = 0;
  MPI_Recv_init(receive, room, MPI_FLOAT, before, 1, comm, &persistent);
  for (int i = 0; i < 2; ++i) {
    request = send_long(comm, 1), memset(receive, 0x5a, sizeof receive);
    MPI_Probe(before, 1, comm, &status), MPI_Start(&persistent);
    MPI_Cancel(&persistent), MPI_Wait(&persistent, &status), MPI_Test_cancelled(&status, &gone);
    if (persistent == MPI_REQUEST_NULL) fail("Cancel");
    if (gone) MPI_Recv(receive, room, MPI_FLOAT, before, 1, comm, &status);
    end_long(&request, "cancelled");
  }
  MPI_Request_free(&persistent);
}

/* A plain message as long as a coded one could be. */
static void alike(void) {
  enum { bytes = 65536 + 31 * 16 + 1024 * 9 };
  static char out_bytes[bytes], in_bytes[bytes];
  MPI_Request request;
  MPI_Status status;
  int count = 0;
  for (int i = 0; i < bytes; ++i) out_bytes[i] = (char)(i * 7 + rank);
  MPI_Isend(out_bytes, bytes, MPI_BYTE, next, 1, comm, &request);
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status), MPI_Get_count(&status, MPI_BYTE, &count);
  if (count != bytes) fail("length");
  MPI_Recv(in_bytes, bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < bytes; ++i)
    if (in_bytes[i] != (char)(i * 7 + before)) fail("bytes");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Receives with too little space for probed messages. */
static void errors(void) {
  MPI_Comm other;
  MPI_Message message;
  MPI_Request request;
  MPI_Status status;
  if (!errors_return) return;
  MPI_Comm_dup(comm, &other), MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* where MPICH raises those of MPI_Mrecv */
  request = send_long(other, 1), MPI_Probe(before, 1, other, &status);
  if (!truncated(MPI_Recv(receive, room - 1, MPI_FLOAT, before, 1, other, &status))) fail("Recv, too short");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  request = send_long(other, 1), MPI_Mprobe(before, 1, other, &message, &status);
  if (!truncated(MPI_Mrecv(receive, room - 1, MPI_FLOAT, &message, &status))) fail("Mrecv, too short");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int there = 1;
  MPI_Barrier(other), MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, other, &there, &status);
  if (there) fail("Iprobe");
  MPI_Probe(MPI_PROC_NULL, 1, other, &status);
  if (status.MPI_SOURCE != MPI_PROC_NULL) fail("MPI_PROC_NULL");
  MPI_Comm_free(&other), MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* ---- Several threads, under MPI_THREAD_MULTIPLE: each receives messages of its own tag in their order */

enum { of_thread = 30 };

static void* receive_tag(void* arg) {
  const int tag = *(const int*)arg, ways = 4;
  float* const at = malloc(room * sizeof *at);
  for (int k = 0; k < of_thread; ++k) {
    MPI_Status status;
    MPI_Message message;
    int count = 0, there = 0;
    if (k % ways == 0) MPI_Probe(MPI_ANY_SOURCE, tag, comm, &status);
    if (k % ways < 2) MPI_Recv(at, room, MPI_FLOAT, before, tag, comm, &status);
    if (k % ways == 2) MPI_Mprobe(before, tag, comm, &message, &status);
    while (k % ways == 3 && !there) MPI_Improbe(before, tag, comm, &there, &message, &status);
    if (k % ways >= 2) MPI_Mrecv(at, room, MPI_FLOAT, &message, &status);
    MPI_Get_count(&status, MPI_FLOAT, &count);
    if (count != (k % 3 ? room - k : k)) fail("count in a thread");
    for (long i = 0; i < count; ++i)
      if (fabs(at[i] - value(before, i + k)) > 0.011) fail("value in a thread");
  }
  free(at);
  return NULL;
}

static void threads(void) {
  static float values[of_thread][room];
  int level = MPI_THREAD_SINGLE, each[tags];
  pthread_t started[tags];
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) return;
  value(before, room + of_thread); /* computed before threads ask for it */
  for (int t = 0; t < tags; ++t) each[t] = t, pthread_create(&started[t], NULL, receive_tag, &each[t]);
  for (int k = 0; k < of_thread; ++k) {
    MPI_Request to_all[tags];
    fill(values[k], room, k, rank);
    for (int t = 0; t < tags; ++t)
      MPI_Isend(values[k], k % 3 ? room - k : k, MPI_FLOAT, next, t, comm, &to_all[t]);
    MPI_Waitall(tags, to_all, MPI_STATUSES_IGNORE);
  }
  for (int t = 0; t < tags; ++t) pthread_join(started[t], NULL);
}

static void all_calls(MPI_Comm on, const char* title) {
  use(on, title);
  before = (rank + size - 1) % size;
  next = (rank + 1) % size;
  any_order();
  others();
  cancelled();
  alike();
  errors();
  threads();
}

int main(int argc, char** argv) { return make_calls(argc, argv, all_calls, &no_calls); }

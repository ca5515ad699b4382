/* Rank 0 sends long messages; rank 1 receives them by calls that resolve to Taut's and by calls that bypass
 * Taut, each with a key of its own. Prints, for each way to receive and each of its rounds, how far the
 * values are off. bypass LIBRARY    the shared library that -DLIBRARY makes of this file; it receives by the
 * MPI that it is linked to */
#define _GNU_SOURCE /* dladdr, RTLD_DEEPBIND */
#include <mpi.h>

#ifdef LIBRARY
int receive_past_taut(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                      MPI_Status* status) {
  return MPI_Recv(buf, count, type, source, tag, comm, status);
}
#else
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 1 << 16, rounds = 4, done_tag = 99, many = 40 };
typedef int receive(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
typedef int send(const void*, int, MPI_Datatype, int, int, MPI_Comm);

static double sent[n], got[n];
static int me;
static const char* wrong_way = "";

static double worst(void) {
  double off = 0;
  for (int i = 0; i < n; ++i) off = fmax(off, fabs(got[i] - sent[i]));
  memset(got, 0, sizeof got);
  return off;
}

/* ---- Ways to send */

static int by_isend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_Request request;
  MPI_Isend(buf, count, type, to, tag, comm, &request);
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int by_send_init(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_Request request;
  MPI_Ssend_init(buf, count, type, to, tag, comm, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_Request_free(&request);
}
static int by_rsend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_Recv(NULL, 0, MPI_INT, to, done_tag, comm, MPI_STATUS_IGNORE); /* the receive is posted */
  return MPI_Rsend(buf, count, type, to, tag, comm);
}

/* ---- Ways to receive */

static int by_wildcards(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                        MPI_Status* status) {
  const int code = MPI_Recv(buf, count, type, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, status);
  if (status->MPI_SOURCE != from || status->MPI_TAG != tag) wrong_way = "wildcards";
  return code;
}
static int by_irecv(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                    MPI_Status* status) {
  MPI_Request request;
  int index;
  MPI_Irecv(buf, count, type, from, tag, comm, &request);
  if (tag % 10 == 7) MPI_Send(NULL, 0, MPI_INT, from, done_tag, comm); /* of a ready send */
  return MPI_Waitany(1, &request, &index, status);
}
static int by_recv_init(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                        MPI_Status* status) {
  MPI_Request request;
  MPI_Recv_init(buf, count, type, from, tag, comm, &request);
  MPI_Start(&request);
  MPI_Wait(&request, status);
  return MPI_Request_free(&request);
}
static int by_sendrecv(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                       MPI_Status* status) {
  return MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, buf, count, type, from, tag, comm, status);
}
static int by_probe(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                    MPI_Status* status) {
  int found;
  MPI_Probe(from, tag, comm, status);
  MPI_Get_count(status, type, &found);
  if (found != count) wrong_way = "MPI_Probe";
  return MPI_Recv(buf, found, type, status->MPI_SOURCE, status->MPI_TAG, comm, status);
}
static int by_mrecv(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                    MPI_Status* status) {
  MPI_Message message;
  int found;
  MPI_Mprobe(from, tag, comm, &message, status);
  MPI_Get_count(status, type, &found);
  if (found != count) wrong_way = "MPI_Mprobe";
  return MPI_Mrecv(buf, found, type, &message, status);
}
static int by_imrecv(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                     MPI_Status* status) {
  MPI_Message message;
  MPI_Request request;
  MPI_Mprobe(from, tag, comm, &message, status);
  MPI_Imrecv(buf, count, type, &message, &request);
  return MPI_Wait(&request, status);
}
/* After a receive with this key that was cancelled, which gives no credit. */
static int by_cancelled(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                        MPI_Status* status) {
  MPI_Request request;
  MPI_Irecv(buf, count, type, from, tag + 1000, comm, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_Recv(buf, count, type, from, tag, comm, status);
}

/* ---- Rounds */

static void rounds_of(const char* name, MPI_Comm comm, int tag, send* sends, receive* receives) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Status status;
    if (me == 0) {
      sends(sent, n, MPI_DOUBLE, 1, tag, comm);
      MPI_Recv(NULL, 0, MPI_INT, 1, done_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      continue;
    }
    receives(got, n, MPI_DOUBLE, 0, tag, comm, &status);
    printf("%s %d %g\n", name, round, worst());
    MPI_Send(NULL, 0, MPI_INT, 0, done_tag, MPI_COMM_WORLD);
  }
}

/* Communicators that are freed with credits outstanding: rank 0 sends no more on them. */
static void short_lived(void) {
  for (int i = 0; i < many; ++i) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm);
    if (me == 0) MPI_Send(sent, n, MPI_DOUBLE, 1, 1, comm);
    if (me == 1) MPI_Recv(got, n, MPI_DOUBLE, 0, 1, comm, MPI_STATUS_IGNORE);
    if (me == 1) printf("first %d %g\n", i, worst());
    MPI_Comm_free(&comm);
  }
}

int main(int argc, char** argv) {
  Dl_info where;
  receive *by_profiling = NULL, *by_deepbind = NULL;
  MPI_Comm twin, part;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int i = 0; i < n; ++i) sent[i] = 3 * sin(i * 1e-3);
  dladdr((void*)(int (*)(int*, char***))PMPI_Init, &where);
  void* const mpi = dlopen(where.dli_fname, RTLD_LAZY);
  *(void**)&by_profiling = dlsym(mpi, "PMPI_Recv");
  *(void**)&by_deepbind = dlsym(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND), "receive_past_taut");
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_split(MPI_COMM_WORLD, 0, me, &part);
  const MPI_Comm on[] = {MPI_COMM_WORLD, twin, part};
  for (int i = 0; i < 3; ++i) {
    rounds_of("MPI_Recv", on[i], 1, MPI_Send, MPI_Recv);
    rounds_of("past:profiling", on[i], 2, MPI_Send, by_profiling);
    rounds_of("past:deepbind", on[i], 3, MPI_Send, by_deepbind);
  }
  rounds_of("past:persistent", twin, 8, by_send_init, by_profiling);
  rounds_of("past:synchronous", twin, 5, MPI_Ssend, by_profiling);
  rounds_of("wildcards", MPI_COMM_WORLD, 5, MPI_Send, by_wildcards);
  rounds_of("Irecv", MPI_COMM_WORLD, 6, by_isend, by_irecv);
  rounds_of("ready", part, 7, by_rsend, by_irecv);
  rounds_of("Recv_init", MPI_COMM_WORLD, 8, by_send_init, by_recv_init);
  rounds_of("Sendrecv", MPI_COMM_WORLD, 9, MPI_Ssend, by_sendrecv);
  rounds_of("Probe", MPI_COMM_WORLD, 10, MPI_Send, by_probe);
  rounds_of("Mprobe", MPI_COMM_WORLD, 11, MPI_Send, by_mrecv);
  rounds_of("Imrecv", MPI_COMM_WORLD, 12, MPI_Send, by_imrecv);
  rounds_of("cancelled", MPI_COMM_WORLD, 13, MPI_Send, by_cancelled);
  rounds_of("past:again", MPI_COMM_WORLD, 2, MPI_Send, by_profiling);
  short_lived();
  MPI_Comm_free(&twin);
  MPI_Comm_free(&part);
  if (me == 1) printf("wrong: %s\n", wrong_way);
  MPI_Finalize();
  return 0;
}
#endif

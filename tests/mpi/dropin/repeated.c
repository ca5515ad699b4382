/* repeated.c: sends messages that repeat themselves by blocking, nonblocking and persistent calls, and
   receives them in several ways: by name, from any source, after probes, out of turn, after a receive that
   was cancelled. Prints a hash of all values that arrive. Two ranks or more, in a ring. With an argument the
   noise in the values changes from step to step, so that no message is like an earlier one. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 120000
#define STEPS 14

static double sent[3][COUNT], got[3][COUNT];
static unsigned long long all = 14695981039346656037ull;
static int rank, right, left, changes;

static void note(const double* values, int n) {
  const unsigned char* bytes = (const unsigned char*)values;
  for (size_t i = 0; i < sizeof(double) * (size_t)n; ++i) all = (all ^ bytes[i]) * 1099511628211ull;
}

static void fill(double* values, int step, int field) {
  unsigned noise = 12345u + (unsigned)(rank + 10 * field + changes * 1000 * (step + 1));
  for (int i = 0; i < COUNT; ++i) {
    noise = noise * 1664525u + 1013904223u;
    values[i] = (noise >> 8) / 16777216.0 + 0.01 * sin(0.001 * i + 0.1 * step);
  }
}

static void blocking(int step) {
  MPI_Request request;
  fill(sent[0], step, 0);
  MPI_Irecv(got[0], COUNT, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &request);
  MPI_Send(sent[0], COUNT, MPI_DOUBLE, right, 1, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  note(got[0], COUNT);
  MPI_Sendrecv(sent[0], COUNT, MPI_DOUBLE, right, 2, got[0], COUNT, MPI_DOUBLE, left, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  note(got[0], COUNT);
}

/* Three fields with one tag; the requests complete in another order. */
static void out_of_turn(int step) {
  MPI_Request sends[3], receives[3];
  int order[3] = {2, 0, 1};
  for (int f = 0; f < 3; ++f) {
    fill(sent[f], step, f);
    MPI_Irecv(got[f], COUNT, MPI_DOUBLE, step % 2 ? MPI_ANY_SOURCE : left, step % 3 ? MPI_ANY_TAG : 3,
              MPI_COMM_WORLD, &receives[f]);
  }
  for (int f = 0; f < 3; ++f) MPI_Isend(sent[f], COUNT, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &sends[f]);
  for (int f = 0; f < 3; ++f) MPI_Wait(&receives[order[f]], MPI_STATUS_IGNORE);
  MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
  for (int f = 0; f < 3; ++f) note(got[f], COUNT);
}

static void probed(int step) {
  MPI_Request request;
  MPI_Status status;
  MPI_Message message;
  int n = 0;
  fill(sent[0], step, 4);
  MPI_Isend(sent[0], COUNT, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &request);
  MPI_Mprobe(left, 4, MPI_COMM_WORLD, &message, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &n);
  if (n != COUNT) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Mrecv(got[0], COUNT, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  note(got[0], COUNT);
}

/* A receive that nothing matches is cancelled; the message goes to the next one. */
static void cancelled(int step) {
  MPI_Request request, send;
  int found = 0;
  MPI_Status status;
  fill(sent[0], step, 5);
  MPI_Irecv(got[1], COUNT, MPI_DOUBLE, left, 5, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &found);
  if (!found) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Isend(sent[0], COUNT, MPI_DOUBLE, right, 5, MPI_COMM_WORLD, &send);
  MPI_Recv(got[0], COUNT, MPI_DOUBLE, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  note(got[0], COUNT);
}

int main(int argc, char** argv) {
  changes = argc > 1;
  MPI_Request persistent[2];
  MPI_Comm comm;
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  right = (rank + 1) % ranks;
  left = (rank + ranks - 1) % ranks;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Recv_init(got[2], COUNT, MPI_DOUBLE, left, 6, comm, &persistent[0]);
  MPI_Send_init(sent[2], COUNT, MPI_DOUBLE, right, 6, comm, &persistent[1]);
  for (int step = 0; step < STEPS; ++step) {
    blocking(step);
    out_of_turn(step);
    probed(step);
    cancelled(step);
    fill(sent[2], step, 6);
    MPI_Startall(2, persistent);
    if (step == STEPS - 1) MPI_Comm_free(&comm); /* with messages underway */
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    note(got[2], COUNT);
  }
  MPI_Request_free(&persistent[0]);
  MPI_Request_free(&persistent[1]);
  for (int r = 0; r < ranks; ++r) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (r == rank) printf("%d %016llx\n", rank, all), fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}

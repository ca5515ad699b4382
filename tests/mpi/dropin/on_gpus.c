/* A program of plain MPI that sends values around a ring, by each call that the drop-in serves: between
   arrays of the host, then between memory of a simulated GPU. Prints the number of calls with other results
   on the GPU, and the greatest error. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/gpu_driver.h"

enum { tag = 5, long_count = 530003 };
static int rank, next, before;
static MPI_Comm comm;

static MPI_Request sending(const float* from, int count) {
  MPI_Request request;
  MPI_Isend(from, count, MPI_FLOAT, next, tag, comm, &request);
  return request;
}

static void recv(float* from, float* to, int count) {
  MPI_Request request = sending(from, count);
  MPI_Recv(to, count, MPI_FLOAT, before, tag, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void probe(float* from, float* to, int count) {
  MPI_Request request = sending(from, count);
  MPI_Status status;
  int there = 0;
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  MPI_Get_count(&status, MPI_FLOAT, &there);
  MPI_Recv(to, there, MPI_FLOAT, status.MPI_SOURCE, status.MPI_TAG, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void matched_probe(float* from, float* to, int count) {
  MPI_Request request = sending(from, count);
  MPI_Message message;
  MPI_Mprobe(before, tag, comm, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(to, count, MPI_FLOAT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void irecv(float* from, float* to, int count) {
  MPI_Request request;
  MPI_Irecv(to, count + 1, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
  if (rank % 2 == 0) MPI_Send(from, count, MPI_FLOAT, next, tag, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank % 2 == 1) MPI_Ssend(from, count, MPI_FLOAT, next, tag, comm);
}

static void persistent(float* from, float* to, int count) {
  MPI_Request both[2];
  MPI_Recv_init(to, count, MPI_FLOAT, before, tag, comm, &both[0]);
  MPI_Send_init(from, count, MPI_FLOAT, next, tag, comm, &both[1]);
  for (int i = 0; i < 2; ++i) MPI_Startall(2, both), MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  MPI_Request_free(&both[0]), MPI_Request_free(&both[1]);
}

static void sendrecv(float* from, float* to, int count) {
  MPI_Sendrecv(from, count, MPI_FLOAT, next, tag, to, count, MPI_FLOAT, before, tag, comm, MPI_STATUS_IGNORE);
}

/* The values that the call sends are not coded: here there are none. */
static void replace(float* from, float* to, int count) {
  MPI_Request request = sending(from, count);
  MPI_Sendrecv_replace(to, count, MPI_FLOAT, MPI_PROC_NULL, 0, before, tag, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The receive completes in one of the later calls. On the host, the values would stay coded. */
static void freed(float* from, float* to, int count) {
  MPI_Request request;
  float last = 0;
  int flag;
  if (stand_in_device_of(to) < 0) {
    recv(from, to, count);
    return;
  }
  MPI_Irecv(to, count, MPI_FLOAT, before, tag, comm, &request);
  MPI_Request_free(&request);
  request = sending(from, count);
  while (last == 0) {
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
    stand_in_finish();
    stand_in_copy(&last, to + count - 1, sizeof last);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
}

static void (*const calls[])(float*, float*, int) = {recv,       probe,    matched_probe, irecv,
                                                     persistent, sendrecv, replace,       freed};

static float value(int of, int i) { return 1000 * (float)(of + 1) + roundf(128 * sinf(1e-3F * (float)i)); }

/* The first message, which is plain: this MPI cannot read the simulated memory. */
static void get_credit(int count) {
  float *from = calloc(sizeof *from, (size_t)count), *to = calloc(sizeof *to, (size_t)count);
  recv(from, to, count);
  MPI_Barrier(comm);
  free(from), free(to);
}

/* Returns 1 if the results differ. */
static int compare(void (*call)(float*, float*, int), int count, float* worst) {
  const size_t bytes = sizeof(float) * (size_t)count;
  float *from = malloc(bytes), *here = malloc(bytes), *got = calloc(1, bytes);
  float *gpu_from = stand_in_allocate(bytes, 0), *gpu_to = stand_in_allocate(bytes, 0);
  for (int i = 0; i < count; ++i) from[i] = value(rank, i);
  memset(here, 0, bytes), stand_in_copy(gpu_from, from, bytes), stand_in_copy(gpu_to, got, bytes);
  call(from, here, count);
  call(gpu_from, gpu_to, count);
  stand_in_copy(got, gpu_to, bytes);
  for (int i = 0; i < count; ++i) *worst = fmaxf(*worst, fabsf(got[i] - value(before, i)));
  const int differ = memcmp(here, got, bytes) != 0;
  free(from), free(here), free(got), stand_in_free(gpu_from), stand_in_free(gpu_to);
  return differ;
}

int main(int argc, char** argv) {
  int ranks, differ = 0, all = 0;
  float worst = 0, greatest = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  get_credit(50000);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i)
    for (int count = 50000; count <= long_count; count += long_count - 50000) {
      const int other = compare(calls[i], count, &worst);
      if (other) fprintf(stderr, "rank %d: call %zu of %d values differs\n", rank, i, count);
      differ += other;
    }
  MPI_Reduce(&differ, &all, 1, MPI_INT, MPI_SUM, 0, comm);
  MPI_Reduce(&worst, &greatest, 1, MPI_FLOAT, MPI_MAX, 0, comm);
  if (rank == 0) printf("%d %g\n", all, (double)greatest);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}

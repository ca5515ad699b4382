/* Prints how many KiB of stack calls take: a thread on painted memory makes them, of smooth
 * values, then of values with NaN among them. The first line is that of an MPI_Allreduce of 152
 * bytes, which is how ranks agree. */
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 1 << 17, stack_bytes = 1 << 20, paint = 0xA5 };
static float *sent, *got;

static void* small(void* unused) {
  MPI_Allreduce(MPI_IN_PLACE, got, 19, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  return unused;
}
static void* allreduce(void* unused) {
  MPI_Allreduce(sent, got, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  return unused;
}
static void* allreduce_doubles(void* unused) {
  MPI_Allreduce(sent, got, n / 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return unused;
}
static void* bcast(void* unused) {
  MPI_Bcast(got, n, MPI_FLOAT, 0, MPI_COMM_WORLD);
  return unused;
}
static void* alltoall(void* unused) {
  MPI_Alltoall(sent, n / 2, MPI_FLOAT, got, n / 2, MPI_FLOAT, MPI_COMM_WORLD);
  return unused;
}
static void* message(void* unused) {
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Sendrecv(sent, n, MPI_FLOAT, 1 - me, 0, got, n, MPI_FLOAT, 1 - me, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  return unused;
}

static void measure(const char* what, void* (*call)(void*), char* stack) {
  pthread_attr_t on_it;
  pthread_t thread;
  int me, unused = 0;
  memset(stack, paint, stack_bytes);
  pthread_attr_init(&on_it);
  pthread_attr_setstack(&on_it, stack, stack_bytes);
  for (int again = 0; again < 4; ++again) {
    pthread_create(&thread, &on_it, call, NULL);
    pthread_join(thread, NULL);
  }
  while (unused < stack_bytes && stack[unused] == (char)paint) ++unused;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) printf("%s %d\n", what, (stack_bytes - unused) / 1024);
}

int main(int argc, char** argv) {
  int level;
  void* stack;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (posix_memalign(&stack, 4096, stack_bytes) != 0) return 1;
  sent = malloc(sizeof *sent * n);
  got = calloc(n, sizeof *got);
  measure("small", small, stack);
  for (int special = 0; special < 2; ++special) {
    for (int i = 0; i < n; ++i) sent[i] = special && i % 37 == 0 ? NAN : sinf(i * 1e-3f);
    memcpy(got, sent, sizeof *got * n);
    measure("allreduce", allreduce, stack);
    measure("allreduce_doubles", allreduce_doubles, stack);
    memcpy(got, sent, sizeof *got * n);
    measure("bcast", bcast, stack);
    measure("alltoall", alltoall, stack);
    measure("message", message, stack);
  }
  MPI_Finalize();
  return 0;
}

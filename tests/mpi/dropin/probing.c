/* Two rounds of long messages in a ring, which are probed first; rank 0 prints the error of the values of the
   second round. In the first one the messages get credit. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#ifndef PROBE
#define PROBE MPI_Probe
#endif
#ifndef RECEIVE
#define RECEIVE MPI_Recv
#endif

enum { count = 100000, tag = 1 };
static float sent[count], got[count];

int main(int argc, char** argv) {
  int rank = 0, size = 0, n = 0;
  double worst = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < count; ++i) sent[i] = (float)(i % 997) * 0.37F;
#ifdef ON_DEVICE /* that array is in GPU memory, according to the stand-in for CUDA's driver */
  void (*say)(const void*, size_t, int) = NULL;
  *(void**)&say = dlsym(dlopen(DRIVER, RTLD_LAZY), "stand_in_range");
  say(ON_DEVICE, sizeof ON_DEVICE, 0);
#endif
  for (int round = 0; round < 2; ++round) {
    MPI_Isend(sent, count, MPI_FLOAT, (rank + 1) % size, tag, MPI_COMM_WORLD, &request);
    PROBE(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_FLOAT, &n);
    RECEIVE(got, n, MPI_FLOAT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; i < count; ++i) {
    const double off = got[i] - (double)sent[i];
    worst = off > worst ? off : -off > worst ? -off : worst;
  }
  if (rank == 0) printf("count: %d worst: %g\n", n, worst);
  MPI_Finalize();
  return 0;
}

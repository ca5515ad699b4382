/* A stand-in for an MPI that accesses memory of GPUs, to be preloaded before an MPI that does not: messages
   in memory of simulated GPUs travel through copies on the host. Covers the calls of Taut's transport. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/gpu_driver.h"

enum { most_in_flight = 4096 };
static struct {
  MPI_Request request;
  void *here, *there; /* copy on the host; memory of the GPU, NULL for a send */
  size_t bytes;
} in_flight[most_in_flight];
static int used, sent, received;

int MPIX_Query_cuda_support(void) { return 1; }

static void* next(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

/* Returns a copy on the host of memory of a GPU; other memory as it is. */
static void* staged(const void* memory, size_t bytes) {
  if (bytes == 0 || stand_in_device_of(memory) < 0) return (void*)memory;
  void* const here = malloc(bytes);
  if (here == NULL || used == most_in_flight) abort();
  stand_in_copy(here, memory, bytes);
  return here;
}

static void keep(MPI_Request request, void* here, void* there, size_t bytes) {
  in_flight[used].request = request;
  in_flight[used].here = here;
  in_flight[used].there = there;
  in_flight[used++].bytes = bytes;
}

#if MPI_VERSION >= 4
typedef MPI_Count Count;
#define ISEND PMPI_Isend_c
#define IRECV PMPI_Irecv_c
#define ISEND_NAME "PMPI_Isend_c"
#define IRECV_NAME "PMPI_Irecv_c"
#else
typedef int Count;
#define ISEND PMPI_Isend
#define IRECV PMPI_Irecv
#define ISEND_NAME "PMPI_Isend"
#define IRECV_NAME "PMPI_Irecv"
#endif

int ISEND(const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
          MPI_Request* request) {
  int (*const send)(const void*, Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = next(ISEND_NAME);
  void* const here = staged(buffer, (size_t)count);
  const int code = send(here, count, type, to, tag, comm, request);
  if (here != buffer) keep(*request, here, NULL, (size_t)count), ++sent;
  return code;
}

int IRECV(void* buffer, Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
          MPI_Request* request) {
  int (*const receive)(void*, Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = next(IRECV_NAME);
  void* const here = staged(buffer, (size_t)count);
  const int code = receive(here, count, type, from, tag, comm, request);
  if (here != buffer) keep(*request, here, buffer, (size_t)count), ++received;
  return code;
}

int PMPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  int (*const test)(MPI_Request*, int*, MPI_Status*) = next("PMPI_Test");
  const MPI_Request asked = *request;
  const int code = test(request, done, status);
  if (asked == MPI_REQUEST_NULL || (code == MPI_SUCCESS && !*done)) return code;
  for (int i = 0; i < used; ++i) {
    if (in_flight[i].request != asked) continue;
    if (in_flight[i].there != NULL) stand_in_copy(in_flight[i].there, in_flight[i].here, in_flight[i].bytes);
    free(in_flight[i].here);
    in_flight[i] = in_flight[--used];
    break;
  }
  return code;
}

int MPI_Finalize(void) {
  int (*const finalize)(void) = next("MPI_Finalize");
  fprintf(stderr, "messages in memory of GPUs: %d sent, %d received\n", sent, received);
  return finalize();
}

/* A stand-in for an MPI that accesses memory of GPUs, to be preloaded before an MPI that does not: messages
   in memory of simulated GPUs travel through copies on the host. Covers the calls that Taut makes for
   messages between two ranks, with any datatype. Collective calls of MPI get pointers as they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/gpu_driver.h"

#if MPI_VERSION >= 4
typedef MPI_Count Count;
#define WITH_COUNT(call) PMPI_##call##_c
#else
typedef int Count;
#define WITH_COUNT(call) PMPI_##call
#endif
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define REAL(call) next(TEXT(WITH_COUNT(call)))

/* Memory of a GPU and its copy on the host. `here` is NULL where MPI gets the memory itself. */
struct staged {
  void *here, *there;
  size_t bytes;
};

enum { most_in_flight = 4096 };
static struct in_flight {
  MPI_Request request;
  struct staged memory;
  int receives;
} in_flight[most_in_flight];
static int used, sent, received;

int MPIX_Query_cuda_support(void) { return 1; }

static void* next(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

/* Returns the bytes from the begin of the first element to the end of the last, gaps included. */
static size_t span_of(Count count, MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0, first = 0, length = 0;
  if (count <= 0) return 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_get_true_extent(type, &first, &length);
  if (first < 0 || extent < 0) abort(); /* begins before the buffer: no test has such a type */
  return (size_t)(first + length + (MPI_Aint)(count - 1) * extent);
}

/* Copies the memory of a message to the host if it is that of a GPU; that of a receive too, for its gaps. */
static struct staged stage(const void* memory, Count count, MPI_Datatype type) {
  struct staged copy = {NULL, (void*)memory, 0};
  if (stand_in_device_of(memory) < 0) return copy;
  if (stand_in_is_pooled(memory)) {
    fputs("MPI got memory of a CUDA memory pool, which it cannot share between processes\n", stderr);
    abort();
  }
  copy.bytes = span_of(count, type);
  if (copy.bytes == 0) return copy;
  copy.here = malloc(copy.bytes);
  if (copy.here == NULL) abort();
  stand_in_copy(copy.here, memory, copy.bytes);
  return copy;
}

static void* buffer_of(const struct staged* memory) {
  return memory->here != NULL ? memory->here : memory->there;
}

/* Ends a message: a received one is copied to the GPU. */
static void finish(const struct staged* memory, int receives) {
  if (memory->here == NULL) return;
  if (receives) stand_in_copy(memory->there, memory->here, memory->bytes);
  *(receives ? &received : &sent) += 1;
  free(memory->here);
}

/* Keeps a message until its request is complete. Returns the code of the call that has started it. */
static int keep(int code, MPI_Request request, struct staged memory, int receives) {
  if (memory.here == NULL) return code;
  if (code != MPI_SUCCESS) return free(memory.here), code;
  if (used == most_in_flight) abort();
  in_flight[used++] = (struct in_flight){request, memory, receives};
  return code;
}

/* Takes the message of a request out of the list. Returns 0 if there is none. */
static int take(MPI_Request request, struct in_flight* found) {
  for (int i = 0; i < used; ++i) {
    if (in_flight[i].request != request) continue;
    *found = in_flight[i];
    in_flight[i] = in_flight[--used];
    return 1;
  }
  return 0;
}

static void complete(MPI_Request request) {
  struct in_flight one;
  if (request != MPI_REQUEST_NULL && take(request, &one)) finish(&one.memory, one.receives);
}

int WITH_COUNT(Isend)(const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  int (*const send)(const void*, Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = REAL(Isend);
  const struct staged memory = stage(buffer, count, type);
  const int code = send(buffer_of(&memory), count, type, to, tag, comm, request);
  return keep(code, *request, memory, 0);
}

int WITH_COUNT(Issend)(const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                       MPI_Request* request) {
  int (*const send)(const void*, Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = REAL(Issend);
  const struct staged memory = stage(buffer, count, type);
  const int code = send(buffer_of(&memory), count, type, to, tag, comm, request);
  return keep(code, *request, memory, 0);
}

int WITH_COUNT(Send)(const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  int (*const send)(const void*, Count, MPI_Datatype, int, int, MPI_Comm) = REAL(Send);
  const struct staged memory = stage(buffer, count, type);
  const int code = send(buffer_of(&memory), count, type, to, tag, comm);
  finish(&memory, 0);
  return code;
}

int WITH_COUNT(Irecv)(void* buffer, Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  int (*const receive)(void*, Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = REAL(Irecv);
  const struct staged memory = stage(buffer, count, type);
  const int code = receive(buffer_of(&memory), count, type, from, tag, comm, request);
  return keep(code, *request, memory, 1);
}

int WITH_COUNT(Imrecv)(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,
                       MPI_Request* request) {
  int (*const receive)(void*, Count, MPI_Datatype, MPI_Message*, MPI_Request*) = REAL(Imrecv);
  const struct staged memory = stage(buffer, count, type);
  const int code = receive(buffer_of(&memory), count, type, message, request);
  return keep(code, *request, memory, 1);
}

int WITH_COUNT(Recv)(void* buffer, Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                     MPI_Status* status) {
  int (*const receive)(void*, Count, MPI_Datatype, int, int, MPI_Comm, MPI_Status*) = REAL(Recv);
  const struct staged memory = stage(buffer, count, type);
  const int code = receive(buffer_of(&memory), count, type, from, tag, comm, status);
  finish(&memory, 1);
  return code;
}

int PMPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  int (*const test)(MPI_Request*, int*, MPI_Status*) = next("PMPI_Test");
  const MPI_Request asked = *request;
  const int code = test(request, done, status);
  if (code != MPI_SUCCESS || *done) complete(asked);
  return code;
}

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  int (*const wait)(MPI_Request*, MPI_Status*) = next("PMPI_Wait");
  const MPI_Request asked = *request;
  const int code = wait(request, status);
  complete(asked);
  return code;
}

/* PMPI_Testall and PMPI_Waitall complete their requests one by one, so that each finds its message. */
int PMPI_Testall(int count, MPI_Request requests[], int* done, MPI_Status statuses[]) {
  int (*const status_of)(MPI_Request, int*, MPI_Status*) = next("PMPI_Request_get_status");
  for (int i = 0; i < count; ++i) {
    const int code = status_of(requests[i], done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || !*done) return code;
  }
  *done = 1;
  return PMPI_Waitall(count, requests, statuses);
}

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  int first_error = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    const int code =
        PMPI_Wait(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
    if (first_error == MPI_SUCCESS) first_error = code;
  }
  return first_error;
}

/* MPI may use the copy after this call: it stays, and the handle is forgotten. */
int PMPI_Request_free(MPI_Request* request) {
  int (*const release)(MPI_Request*) = next("PMPI_Request_free");
  struct in_flight one;
  take(*request, &one);
  return release(request);
}

int MPI_Finalize(void) {
  int (*const finalize)(void) = next("MPI_Finalize");
  fprintf(stderr, "messages in memory of GPUs: %d sent, %d received\n", sent, received);
  return finalize();
}

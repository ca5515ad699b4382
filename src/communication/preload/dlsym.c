/* dlsym() of this library: what finds functions of MPI or NCCL by the handle of their library (ctypes,
 * numba-mpi, MPI.jl; vLLM, SGLang) gets the wrappers too. Without it, such callers would bypass Taut while
 * the rest of the job does not: they would wait in calls that the others serve, and would receive frames as
 * values. */
#define _GNU_SOURCE /* dlvsym, dladdr, RTLD_NEXT */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "communication/loader/layer.h"
#include "communication/preload/preload.h"

#ifdef __GLIBC__

typedef void* (*lookup)(void*, const char*);

/* Returns dlsym() of the C library, which has another version name on each processor. */
static lookup next_dlsym(void) {
  static const char* const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27",
                                         "GLIBC_2.36"};
  static _Atomic(lookup) known;
  lookup found = atomic_load_explicit(&known, memory_order_relaxed);
  for (size_t i = 0; found == NULL && i < sizeof versions / sizeof *versions; ++i)
    *(void**)&found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
  if (found == NULL) {
    fprintf(stderr, "taut: the C library has no dlsym of a known version; do not preload Taut here\n");
    abort();
  }
  atomic_store_explicit(&known, found, memory_order_relaxed);
  return found;
}

/* Returns the object that contains the address; NULL if none does. */
static const void* object_of(const void* address) {
  Dl_info where;
  return address != NULL && dladdr(address, &where) != 0 ? where.dli_fbase : NULL;
}

/* Returns a function of the profiling interface of the library that wrappers serve: of the MPI of the handle,
 * or of the only NCCL whose functions wrappers call; NULL if there is none. */
static const void* profiling(lookup look, void* handle, int of_mpi) {
  const char* paths[2];
  if (!of_mpi) return taut_find_in_nccl("pncclGetUniqueId");
  return taut_two_mpis(paths) ? NULL : look(handle, "PMPI_Init");
}

/* Returns the wrapper of the function that a caller looks for in an MPI library or NCCL; NULL if it gets what
 * it looks for. */
static void* wrapper_for(lookup look, void* handle, const char* name, const void* caller, int of_mpi) {
  const void* const here = object_of((void*)&taut_targets);
  if (!taut_is_asked() || object_of(caller) == here) return NULL;
  const void* const found = object_of(look(handle, name));
  if (found == NULL || found != object_of(profiling(look, handle, of_mpi))) return NULL; /* another library */
  void* const wrapper = look(RTLD_DEFAULT, name);
  return object_of(wrapper) == here ? wrapper : NULL;
}

/* A jump to the next function, rather than a call, keeps its caller: RTLD_NEXT means the objects behind it.
 */
#if defined(__has_attribute)
#if __has_attribute(musttail)
#define TAUT_JUMP __attribute__((musttail))
#endif
#endif
#ifndef TAUT_JUMP
#define TAUT_JUMP
#endif

__attribute__((visibility("default"))) void* dlsym(void* restrict handle, const char* restrict name) {
  const lookup look = next_dlsym();
  const int by_handle = handle != RTLD_DEFAULT && handle != RTLD_NEXT, of_mpi = strncmp(name, "MPI_", 4) == 0;
  if (by_handle && (of_mpi || strncmp(name, "nccl", 4) == 0)) {
    void* const wrapper = wrapper_for(look, handle, name, __builtin_return_address(0), of_mpi);
    if (wrapper != NULL) return wrapper;
  }
  TAUT_JUMP return look(handle, name);
}

#endif

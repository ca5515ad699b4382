/* libtaut_preload.so: wrappers of MPI's and NCCL's functions for a program that was built without Taut. The
 * library is linked to no MPI and does nothing until the first MPI call: shells, launchers and programs
 * without MPI run with it as they run without it. nccl.c chooses the functions that serve NCCL's.
 *
 * A wrapper calls one of two functions. If Taut is asked for anything, it calls the drop-in's function in
 * the layer for this MPI (src/communication/dropin). Otherwise it calls the next function of that name:
 * another tool's, or MPI's. A large-count function that the MPI lacks is always the layer's, because programs
 * take its presence here for the MPI's (mpi4py does). */
#define _GNU_SOURCE /* RTLD_NEXT, dladdr */
#include "communication/preload/preload.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "communication/loader/layer.h"

_Atomic(taut_function) taut_targets[taut_most_wrapped];
static void* mpi;
static void* layer;
static int asked; /* nonzero if Taut is asked for anything */
static int more;  /* the other services asked for: taut_nonblocking, taut_messages, taut_counts */

static void* next_function(const char* name) {
  char profiling[128] = "P";
  void* const next = dlsym(RTLD_NEXT, name);
  if (next != NULL || mpi == NULL) return next;
  void* const plain = dlsym(mpi, name);
  if (plain != NULL && plain != dlsym(RTLD_DEFAULT, name)) return plain;
  void* const private_function = taut_find_private(mpi, name);
  if (private_function != NULL) return private_function;
  return dlsym(mpi, strncat(profiling, name, sizeof profiling - 2));
}

int taut_is_set(const char* name) {
  const char* const value = secure_getenv(name);
  return value != NULL && *value != '\0';
}

static int is_on(const char* name) {
  const char* const value = secure_getenv(name);
  return value != NULL && (strcmp(value, "1") == 0 || strcmp(value, "on") == 0);
}

void taut_own_folder(char* folder, size_t size) {
  Dl_info here;
  const int found = dladdr((void*)&taut_targets, &here);
  const char* const slash = found != 0 ? strrchr(here.dli_fname, '/') : NULL;
  if (slash != NULL)
    snprintf(folder, size, "%.*s", (int)(slash - here.dli_fname), here.dli_fname);
  else
    snprintf(folder, size, ".");
}

/* Opens the layer, which is in the folder of this library. */
static void open_layer(void) {
  char folder[4096], why[4608] = "";
  void (*begin)(void* (*)(const char*)) = NULL;
  if (mpi == NULL) return;
  taut_own_folder(folder, sizeof folder);
  layer = taut_open_layer(mpi, folder, why, sizeof why);
  if (layer == NULL) {
    if (asked) fprintf(stderr, "taut: the program runs without Taut: %s\n", why);
    return;
  }
  *(void**)&begin = dlsym(layer, "taut_dropin_start");
  if (begin != NULL) begin(next_function);
}

/* Turns Taut off if two MPIs are loaded privately, as mpi4py and Julia load theirs. Without this library,
 * each MPI would have got the calls of its own callers. */
static void leave_two_mpis(void) {
  const char* paths[2];
  if (!taut_two_mpis(paths)) return;
  fprintf(stderr,
          "taut: two MPIs are loaded, %s and %s: all calls go to the first, without Taut; preload nothing in "
          "programs that use both\n",
          paths[0], paths[1]);
  asked = more = 0;
}

int taut_is_asked(void) {
  static const char* const asks[] = {"TAUT_RULES", "TAUT_CONFIG", "TAUT_REPORT", "TAUT_TRACE",
                                     "TAUT_SUMMARY"};
  for (size_t i = 0; i < sizeof asks / sizeof *asks; ++i)
    if (taut_is_set(asks[i])) return 1;
  return 0;
}

static void start(void) {
  asked = taut_is_asked();
  if (asked && is_on("TAUT_NONBLOCKING")) more |= taut_nonblocking;
  if (asked && is_on("TAUT_MESSAGES")) more |= taut_messages;
  if (taut_is_set("TAUT_REPORT") || taut_is_set("TAUT_SUMMARY")) more |= taut_counts;
  leave_two_mpis();
  mpi = taut_find_mpi();
}

/* Returns the function that serves `wrapped`. The layer stays closed in a program that does not ask for
 * Taut and whose MPI lacks no function. */
static taut_function choose_for_mpi(const struct taut_wrapped* wrapped) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  taut_function found = NULL;
  void* target = next_function(wrapped->name);
  if ((wrapped->asked_by != 0 ? more & wrapped->asked_by : asked) || target == NULL) {
    pthread_once(&once, open_layer);
    void* const served = layer != NULL ? dlsym(layer, wrapped->served) : NULL;
    if (served != NULL) target = served;
  }
  *(void**)&found = target;
  return found;
}

static taut_function choose(const struct taut_wrapped* wrapped) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  taut_function found = NULL;
  if (wrapped->asked_by == taut_of_nccl) {
    *(void**)&found = taut_choose_for_nccl(wrapped);
    return found;
  }
  pthread_once(&once, start);
  return choose_for_mpi(wrapped);
}

taut_function taut_find_target(unsigned number) {
  const taut_function target = choose(&taut_wrapped[number]);
  if (target == NULL) {
    fprintf(stderr, "taut: %s is called, but no library that has it is loaded\n", taut_wrapped[number].name);
    abort();
  }
  atomic_store_explicit(&taut_targets[number], target, memory_order_release);
  return target;
}

/* nccl.c -- chooses what serves a call of NCCL: a function of libtaut_nccl, or NCCL's own. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "preload/preload.h"

static const char library[] = "libtaut_nccl.so.0";
static void* dropin; /* libtaut_nccl; NULL: NCCL serves all calls */

/* Returns NCCL's function, which may be in a library that the program has loaded privately, as Python does.
 */
static void* of_nccl(const char* name) {
  void* const next = dlsym(RTLD_NEXT, name);
  if (next != NULL) return next;
  void* const nccl = dlopen("libnccl.so.2", RTLD_NOW | RTLD_NOLOAD);
  return nccl != NULL ? dlsym(nccl, name) : NULL;
}

/* Opens libtaut_nccl, which is in the folder of this library, one above, or where the loader looks. */
static void open_dropin(void) {
  static const char* const asks[] = {"TAUT_RULES", "TAUT_CONFIG", "TAUT_REPORT", "TAUT_SUMMARY"};
  static const char* const places[] = {"/", "/../"};
  char folder[4000], file[4096];
  int asked = 0;
  for (size_t i = 0; i < sizeof asks / sizeof *asks; ++i) asked |= taut_is_set(asks[i]);
  if (!asked) return;
  if (of_nccl("pncclCommCount") == NULL) {
    fprintf(stderr,
            "taut: NCCL serves all its calls: it lacks its profiling interface (pncclAllReduce ...)\n");
    return;
  }
  taut_own_folder(folder, sizeof folder);
  for (size_t i = 0; i < sizeof places / sizeof *places && dropin == NULL; ++i) {
    snprintf(file, sizeof file, "%s%s%s", folder, places[i], library);
    dropin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  }
  if (dropin == NULL) dropin = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (dropin == NULL) fprintf(stderr, "taut: NCCL serves all its calls: %s\n", dlerror());
}

void* taut_choose_for_nccl(const struct taut_wrapped* wrapped) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_dropin);
  void* const served = dropin != NULL ? dlsym(dropin, wrapped->served) : NULL;
  return served != NULL ? served : of_nccl(wrapped->name);
}

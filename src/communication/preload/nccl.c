/* nccl.c -- chooses what serves a call of NCCL: a function of libtaut_nccl, or NCCL's own. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "communication/preload/preload.h"

static const char library[] = "libtaut_nccl.so.0";
static void* dropin;    /* libtaut_nccl; NULL: NCCL serves all calls */
static atomic_int seen; /* nonzero if the program has called a function of NCCL here */

void* taut_find_in_nccl(const char* name) {
  void* const next = dlsym(RTLD_NEXT, name);
  if (next != NULL) return next;
  void* const nccl = dlopen("libnccl.so.2", RTLD_NOW | RTLD_NOLOAD);
  return nccl != NULL ? dlsym(nccl, name) : NULL;
}

/* Returns nonzero if Taut is asked for anything. */
static int asked(void) {
  static const char* const asks[] = {"TAUT_RULES", "TAUT_CONFIG", "TAUT_REPORT", "TAUT_SUMMARY"};
  for (size_t i = 0; i < sizeof asks / sizeof *asks; ++i)
    if (taut_is_set(asks[i])) return 1;
  return 0;
}

static int is_loaded(const char* name) {
  void* const found = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (found != NULL) dlclose(found);
  return found != NULL;
}

/* Says at the end of a process that NCCL was there, and that none of its calls came here. Processes without
 * CUDA are silent: PyTorch loads NCCL into all. */
__attribute__((destructor)) static void say_unseen(void) {
  if (seen || !asked() || !is_loaded("libnccl.so.2") || !is_loaded("libcuda.so.1")) return;
  fprintf(
      stderr,
      "taut: NCCL was loaded, but no call of it was seen: the program makes none, or has another NCCL; see "
      "docs/nccl.md\n");
}

/* Opens libtaut_nccl, which is in the folder of this library, one above, or where the loader looks. */
static void open_dropin(void) {
  static const char* const places[] = {"/", "/../"};
  char folder[4000], file[4096];
  if (!asked()) return;
  if (taut_find_in_nccl("pncclSend") == NULL) {
    fprintf(stderr,
            "taut: NCCL serves all its calls: it lacks its profiling interface (pncclAllReduce ...), or is "
            "older than 2.7\n");
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
  seen = 1;
  pthread_once(&once, open_dropin);
  void* const served = dropin != NULL ? dlsym(dropin, wrapped->served) : NULL;
  return served != NULL ? served : taut_find_in_nccl(wrapped->name);
}

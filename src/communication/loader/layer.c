#define _GNU_SOURCE /* dl_iterate_phdr, dladdr, RTLD_DEFAULT */
#include "communication/loader/layer.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static const char* base_name(const char* path) {
  const char* const slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* Returns true for the names of MPI libraries: MPICH and relatives, Open MPI, the standard ABI, Debian's
 * MPICH. */
static int is_mpi(const char* path) {
  static const char* const names[] = {"libmpi.so", "libmpi_abi.so", "libmpich.so"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strncmp(base_name(path), names[i], strlen(names[i])) == 0) return 1;
  return 0;
}

struct found_mpis {
  const char* paths[2];
  int count;
};

static int note_mpis(struct dl_phdr_info* library, size_t size, void* to) {
  struct found_mpis* const found = to;
  (void)size;
  if (library->dlpi_name != NULL && is_mpi(library->dlpi_name) && found->count < 2)
    found->paths[found->count++] = library->dlpi_name;
  return found->count == 2;
}

int taut_two_mpis(const char* paths[2]) {
  struct found_mpis found = {{NULL, NULL}, 0};
  if (dlsym(RTLD_DEFAULT, "PMPI_Init") != NULL) return 0; /* global before taut_find_mpi() made it so */
  dl_iterate_phdr(note_mpis, &found);
  memcpy(paths, found.paths, sizeof found.paths);
  return found.count == 2;
}

void* taut_find_mpi(void) {
  struct found_mpis loaded = {{NULL, NULL}, 0};
  const char* path = NULL;
  void* const symbol = dlsym(RTLD_DEFAULT, "PMPI_Init");
  Dl_info where;
  if (symbol != NULL && dladdr(symbol, &where) != 0) {
    path = where.dli_fname;
  } else {
    dl_iterate_phdr(note_mpis, &loaded);
    path = loaded.paths[0];
  }
  if (path == NULL) return NULL;
  void* const mpi = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
  return mpi != NULL ? mpi : dlopen(NULL, RTLD_LAZY); /* MPI is linked into the program itself */
}

enum { most_libraries = 16 };
struct libraries {
  const char* paths[most_libraries];
  int count;
};

static int note_libraries(struct dl_phdr_info* library, size_t size, void* to) {
  struct libraries* const found = to;
  (void)size;
  if (library->dlpi_name != NULL && strncmp(base_name(library->dlpi_name), "libmpi", 6) == 0)
    found->paths[found->count++] = library->dlpi_name;
  return found->count == most_libraries;
}

void* taut_find_private(void* mpi, const char* name) {
  struct libraries loaded = {{NULL}, 0};
  void* symbol = NULL;
  dl_iterate_phdr(note_libraries, &loaded);
  for (int i = 0; i < loaded.count && symbol == NULL; ++i) {
    void* const library = dlopen(loaded.paths[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) continue;
    if (dlsym(library, "PMPI_Init") == dlsym(mpi, "PMPI_Init")) symbol = dlsym(library, name);
    dlclose(library);
  }
  return symbol;
}

const char* taut_mpi_flavour(void* mpi) {
  int major = -1, minor = -1;
  int (*abi)(int*, int*) = NULL;
  *(void**)&abi = dlsym(mpi, "PMPI_Abi_get_version");
  if (abi != NULL && abi(&major, &minor) == 0 && major > 0) return "mpiabi";
  /* Asked second: libmpi_abi of Open MPI 6 shares a library with libmpi, where this symbol is. */
  return dlsym(mpi, "ompi_mpi_comm_self") != NULL ? "openmpi" : "mpich";
}

void* taut_open_layer(void* mpi, const char* folder, char* why, size_t size) {
  char path[4096];
  const char* const flavour = taut_mpi_flavour(mpi);
  if (snprintf(path, sizeof path, "%s/libtaut_%s.so", folder, flavour) >= (int)sizeof path) {
    snprintf(why, size, "the folder's name is too long: %s", folder);
    return NULL;
  }
  /* Lazy binding: functions that this MPI does not have are never called. */
  void* const layer = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (layer == NULL) snprintf(why, size, "no layer for this MPI (%s): %s", flavour, dlerror());
  return layer;
}

/* Loads the given libraries privately, and calls the preloaded MPI functions. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int (*init)(int*, char***) = NULL;
  int (*finalize)(void) = NULL;
  for (int i = 1; i < argc; ++i) {
    if (dlopen(argv[i], RTLD_LAZY | RTLD_LOCAL) != NULL) continue;
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  *(void**)&init = dlsym(RTLD_DEFAULT, "MPI_Init");
  *(void**)&finalize = dlsym(RTLD_DEFAULT, "MPI_Finalize");
  printf("called: %d\n", init(NULL, NULL));
  return finalize();
}

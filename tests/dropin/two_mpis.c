/* Loads the libraries that it is given, privately, and calls the MPI function that is preloaded. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int (*control)(const int, ...) = NULL;
  for (int i = 1; i < argc; ++i) {
    if (dlopen(argv[i], RTLD_LAZY | RTLD_LOCAL) != NULL) continue;
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  *(void**)&control = dlsym(RTLD_DEFAULT, "MPI_Pcontrol");
  printf("called: %d\n", control(1));
  return 0;
}

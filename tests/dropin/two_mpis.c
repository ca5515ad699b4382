/* Loads the libraries that it is given, privately, and calls MPI by the name that is preloaded. */
#include <dlfcn.h>
#include <stdio.h>

int MPI_Pcontrol(const int level, ...);

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (dlopen(argv[i], RTLD_LAZY | RTLD_LOCAL) != NULL) continue;
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  printf("called: %d\n", MPI_Pcontrol(1));
  return 0;
}

/* A tool that marks regions, as IPM or mpiP does: prints the arguments of MPI_Pcontrol. */
#include <stdarg.h>
#include <stdio.h>

int MPI_Pcontrol(const int level, ...) {
  va_list rest;
  va_start(rest, level);
  if (level == 0) printf("tool: 0 %s\n", va_arg(rest, const char*));
  if (level == 1) {
    const char* const name = va_arg(rest, const char*);
    const int two = va_arg(rest, int);
    const double half = va_arg(rest, double);
    const long three = va_arg(rest, long);
    const double quarter = va_arg(rest, double);
    const char* const more = va_arg(rest, const char*);
    printf("tool: 1 %s %d %g %ld %g %s", name, two, half, three, quarter, more);
    for (int i = 0; i < 4; ++i) printf(" %d", va_arg(rest, int));
    printf(" %g", va_arg(rest, double));
    printf(" %d\n", va_arg(rest, int));
  }
  va_end(rest);
  fflush(stdout);
  return 0;
}

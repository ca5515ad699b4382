/* A tool that marks regions, as IPM or mpiP does: prints the arguments of MPI_Pcontrol. */
#include <stdarg.h>
#include <stdio.h>

int MPI_Pcontrol(const int level, ...) {
  va_list rest;
  va_start(rest, level);
  char line[200] = ""; /* written at once: launchers mix pieces of lines of different ranks */
  if (level == 0) snprintf(line, sizeof line, "tool: 0 %s\n", va_arg(rest, const char*));
  if (level == 1) {
    const char* const name = va_arg(rest, const char*);
    const int two = va_arg(rest, int);
    const double half = va_arg(rest, double);
    const long three = va_arg(rest, long);
    const double quarter = va_arg(rest, double);
    const char* const more = va_arg(rest, const char*);
    int last[5];
    for (int i = 0; i < 4; ++i) last[i] = va_arg(rest, int);
    const double fraction = va_arg(rest, double);
    last[4] = va_arg(rest, int);
    snprintf(line, sizeof line, "tool: 1 %s %d %g %ld %g %s %d %d %d %d %g %d\n", name, two, half, three,
             quarter, more, last[0], last[1], last[2], last[3], fraction, last[4]);
  }
  fputs(line, stdout);
  va_end(rest);
  fflush(stdout);
  return 0;
}

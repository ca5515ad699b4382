/* Frame of a test program: it runs named cases and prints, for each case and rank, the greatest deviation
 * from what the exact call gives. Arguments are the names of cases; without arguments all cases run. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char* name;
  void (*run)(void);
} Case;

enum { repetitions = 3 }; /* later calls of a kind take other routes than the first one */

static int rank, ranks;
static double worst; /* greatest deviation in the case that runs; a NaN counts as infinite */

static void deviates_by(double error) {
  if (!(fabs(error) <= worst)) worst = isnan(error) ? INFINITY : fabs(error);
}
static void expect(int holds) { deviates_by(holds ? 0 : INFINITY); }

static double smooth(int i) { return sin(i * 1e-3); }

static int is_wanted(const char* name, int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (!strcmp(argv[i], name)) return 1;
  return argc < 2;
}

/* Runs the wanted ones of `n` cases. The program has called MPI_Init. The argument --list prints their names
 * instead. */
static void run_cases(const Case* cases, int n, int argc, char** argv) {
  if (argc == 2 && !strcmp(argv[1], "--list")) {
    for (int i = 0; i < n; ++i) puts(cases[i].name);
    return;
  }
  for (int i = 0; i < n; ++i) {
    if (!is_wanted(cases[i].name, argc, argv)) continue;
    worst = 0;
    for (int k = 0; k < repetitions; ++k) cases[i].run();
    printf("%s rank %d worst %.3g\n", cases[i].name, rank, worst);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

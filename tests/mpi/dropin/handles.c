/* A rank that finds MPI's functions by the handle of the MPI library, as ctypes and Julia do, beside a rank
 * that is linked to them: two messages, of which the second may be coded, and a broadcast. Prints the
 * greatest errors. */
#define _GNU_SOURCE /* dladdr, dlvsym */
#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 1 << 17 };

static double off(const double* x, const double* y) {
  double worst = 0;
  for (int i = 0; i < n; ++i) worst = fmax(worst, fabs(x[i] - y[i]));
  return worst;
}

int main(int argc, char** argv) {
  int me;
  Dl_info where;
  int (*recv)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*) = NULL;
  int (*bcast)(void*, int, MPI_Datatype, int, MPI_Comm) = NULL;
  double *want = malloc(sizeof *want * n), *got = calloc(n, sizeof *got);
  for (int i = 0; i < n; ++i) want[i] = sin(i * 1e-3);
  dladdr((void*)(int (*)(int*, char***))PMPI_Init, &where);
  void* const mpi = dlopen(where.dli_fname, RTLD_LAZY);
  *(void**)&recv = dlsym(mpi, "MPI_Recv");
  *(void**)&bcast = dlsym(mpi, "MPI_Bcast");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) {
    for (int i = 0; i < 2; ++i) {
      MPI_Send(want, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(want, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else {
    for (int i = 0; i < 2; ++i) {
      recv(got, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      printf("%s message: %g\n", i == 0 ? "first" : "second", off(got, want));
      MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    bcast(got, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    printf("broadcast: %g\n", off(got, want));
    printf("others: %d\n", dlsym(mpi, "MPI_Get_count") != NULL && dlsym(mpi, "MPI_No_such_function") == NULL);
    /* A function has no version in these MPIs nor in Taut, so that dlvsym() cannot bypass Taut. */
    printf("with a version: %d\n", dlvsym(mpi, "MPI_Recv", "GLIBC_2.2.5") != NULL ||
                                       dlvsym(RTLD_DEFAULT, "MPI_Recv", "GLIBC_2.2.5") != NULL);
  }
  MPI_Finalize();
  return 0;
}

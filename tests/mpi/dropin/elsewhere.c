/* A program that changes its working directory; with an argument, it also starts another program of 2 ranks.
 */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { count = 1 << 16 };

int main(int argc, char** argv) {
  MPI_Comm parent, children;
  float *x = calloc(count, sizeof *x), *y = malloc(count * sizeof *y);
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  MPI_Allreduce(x, y, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  if (parent != MPI_COMM_NULL)
    MPI_Comm_disconnect(&parent);
  else if (argc > 1) {
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&children);
  }
  if (chdir("/") != 0) return 1;
  return MPI_Finalize();
}

/* A program of plain MPI that gathers and scatters over an intercommunicator, from the last rank to rank 0
   and back. Ranks on which MPI reads no counts pass an invalid pointer in their place. */
#include <mpi.h>
#include <stdint.h>

int main(int argc, char** argv) {
  int rank, size, got = -1, back = -1;
  MPI_Comm side, inter;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int last = rank == size - 1, one = 1, zero = 0;
  const int* const invalid = (const int*)(uintptr_t)16;
  MPI_Comm_split(MPI_COMM_WORLD, last, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, last ? 0 : size - 1, 1, &inter);

  const int root = last ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  const int *const counts = rank == 0 ? &one : invalid, *const displs = rank == 0 ? &zero : invalid;
  MPI_Gatherv(&rank, 1, MPI_INT, &got, counts, displs, MPI_INT, root, inter);
  MPI_Scatterv(&got, counts, displs, MPI_INT, &back, 1, MPI_INT, root, inter);

  MPI_Comm_free(&inter);
  MPI_Comm_free(&side);
  MPI_Finalize();
  return (rank != 0 || got == size - 1) && (!last || back == size - 1) ? 0 : 1;
}

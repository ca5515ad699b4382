/* A program of plain MPI with calls that Taut does not serve: three puts, a buffered send to itself. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size, window_word = -1, word, got = -1, bytes;
  void* buffer;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  word = rank;
  MPI_Win_create(&window_word, sizeof window_word, sizeof window_word, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < 3; ++i) MPI_Put(&word, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &bytes);
  bytes += MPI_BSEND_OVERHEAD;
  buffer = malloc((size_t)bytes);
  MPI_Buffer_attach(buffer, bytes);
  MPI_Bsend(&word, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&buffer, &bytes);
  free(buffer);
  MPI_Finalize();
  return window_word == (rank + size - 1) % size && got == rank ? 0 : 1;
}

/* A user's program: uses the codec alone, then sums over all ranks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <taut/taut.h>

enum { count = 100000 };

int main(int argc, char** argv) {
  int rank, size, failed = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  float* values = malloc(count * sizeof *values);
  for (int i = 0; i < count; ++i) values[i] = sinf(1e-3f * (float)i) + (float)rank;

  const size_t capacity = TAUT_Max_bytes(TAUT_FLOAT32, count, 1);
  size_t bytes = 0;
  void* frame = malloc(capacity);
  const int status = TAUT_Encode(values, count, TAUT_FLOAT32, "abs:1e-3", frame, capacity, &bytes);
  if (status != TAUT_SUCCESS || bytes == 0 || bytes >= count * sizeof *values) {
    printf("rank %d: TAUT_Encode: %s, %zu bytes\n", rank, TAUT_Status_string(status), bytes);
    failed = 1;
  }

  TAUT_Comm_set_policy(MPI_COMM_WORLD, "abs:1e-3,min_bytes=0");
  TAUT_Allreduce(MPI_IN_PLACE, values, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    const double exact = size * (double)sinf(1e-3f * (float)i) + size * (size - 1) / 2.0;
    if (fabs(values[i] - exact) > 1.01e-3) failed = 1;
  }
  if (failed) printf("rank %d: failed\n", rank);

  free(frame);
  free(values);
  MPI_Finalize();
  return failed;
}

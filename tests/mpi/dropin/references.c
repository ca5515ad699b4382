/* Makes collectives by MPI_ functions and, as the reference of a benchmark, by PMPI_ functions in turn. Rank
 * 0 prints the greatest difference of both from the exact result. */
#include <mpi.h>
#include <stdio.h>

enum { count = 1 << 16, rounds = 12 };
static float x[count], got[count], reference[count];
static int size = 0, rank = 0;

static float value(int of, int i) { return (float)((of + 3) * (i % 997)) * 0.37F; }

static double off(const float* values, float (*exact)(int)) {
  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const double difference = (double)values[i] - (double)exact(i);
    worst = difference > worst ? difference : -difference > worst ? -difference : worst;
  }
  return worst;
}

static float of_sum(int i) {
  float sum = 0;
  for (int r = 0; r < size; ++r) sum += value(r, i);
  return sum;
}
static float of_gather(int i) { return value(i / (count / size), i % (count / size)); }
static float of_exchange(int i) {
  return value(i / (count / size), i % (count / size) + rank * (count / size));
}
static float of_root(int i) { return value(1, i); }

static void print(const char* name, float (*exact)(int)) {
  double worst[2] = {off(got, exact), off(reference, exact)}, most[2];
  PMPI_Reduce(worst, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s %g %g\n", name, most[0], most[1]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int part = count / size;
  for (int i = 0; i < count; ++i) x[i] = value(rank, i);
  for (int k = 0; k < rounds; ++k) {
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(x, got, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Allreduce(x, reference, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  print("allreduce", of_sum);
  for (int k = 0; k < rounds; ++k) {
    MPI_Allgather(x, part, MPI_FLOAT, got, part, MPI_FLOAT, MPI_COMM_WORLD);
    PMPI_Allgather(x, part, MPI_FLOAT, reference, part, MPI_FLOAT, MPI_COMM_WORLD);
  }
  print("allgather", of_gather);
  for (int k = 0; k < rounds; ++k) {
    MPI_Alltoall(x, part, MPI_FLOAT, got, part, MPI_FLOAT, MPI_COMM_WORLD);
    PMPI_Alltoall(x, part, MPI_FLOAT, reference, part, MPI_FLOAT, MPI_COMM_WORLD);
  }
  print("alltoall", of_exchange);
  for (int i = 0; i < count; ++i) got[i] = reference[i] = x[i];
  MPI_Bcast(got, count, MPI_FLOAT, 1, MPI_COMM_WORLD);
  PMPI_Bcast(reference, count, MPI_FLOAT, 1, MPI_COMM_WORLD);
  print("bcast", of_root);
  MPI_Finalize();
  return 0;
}

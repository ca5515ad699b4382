/* Particles on a ring, held together by springs that are not linear (Fermi, Pasta, Ulam and Tsingou): each
   step all ranks gather all places. Prints how far the energy drifts, relative to its beginning. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { own = 6000, steps = 60 };
static const double dt = 0.1;

static double force(double stretch) { return stretch + stretch * stretch * stretch; }
static double potential(double stretch) { return stretch * stretch / 2 + pow(stretch, 4) / 4; }

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int n = own * size;
  double *x = malloc(own * sizeof *x), *v = calloc(own, sizeof *v), *all = malloc((size_t)n * sizeof *all);
  double first = 0, drift = 0;
  for (int i = 0; i < own; ++i) x[i] = sin(400 * acos(-1) * (rank * own + i) / n);
  for (int step = 0; step < steps; ++step) {
    double mine = 0, energy = 0;
    MPI_Allgather(x, own, MPI_DOUBLE, all, own, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < own; ++i) {
      const int at = rank * own + i;
      const double after = all[(at + 1) % n] - all[at], before = all[at] - all[(at + n - 1) % n];
      const double push = dt * (force(after) - force(before));
      mine += pow(v[i] + push / 2, 2) / 2 + potential(after);
      v[i] += push;
      x[i] += dt * v[i];
    }
    MPI_Allreduce(&mine, &energy, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (step == 0) first = energy;
    drift = fmax(drift, fabs(energy / first - 1));
  }
  if (rank == 0) {
    FILE* file = fopen("drift.txt", "w");
    fprintf(file, "%.6e\n", drift);
    fclose(file);
  }
  MPI_Finalize();
  free(x), free(v), free(all);
  return 0;
}

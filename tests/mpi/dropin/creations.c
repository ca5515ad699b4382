/* A program of plain MPI that creates and frees communicators and persistent requests. It counts the private
   communicators that Taut creates, by PMPI_Comm_split, which this program defines. It prints a line for each
   part: its name, the count, and whether sums were right.

     creations PART    PART: unused, used, small, large or order */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 40, starts = 10, most = 1 << 16 };

static int rank, size, splits, right = 1;
static double mine[most], sums[most];

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  static int (*next)(MPI_Comm, int, int, MPI_Comm*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Comm_split");
  ++splits;
  return next(comm, color, key, made);
}

static void check(int n, int ranks_above) {
  for (int i = 0; i < n; ++i) {
    const double exact = ranks_above * (1e-4 * i) + ranks_above * (ranks_above - 1) / 2.0;
    if (fabs(sums[i] - exact) > 0.01 * ranks_above) right = 0;
  }
  memset(sums, 0, sizeof sums);
}

/* Starts a sum on `comm` while the first rank blocks in another call. */
static void nonblocking_sum(MPI_Comm comm, int n) {
  MPI_Request request;
  MPI_Iallreduce(mine, sums, n, MPI_DOUBLE, MPI_SUM, comm, &request);
  if (rank != 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(n, size);
}

/* Creates duplicates, parts and graphs without calls on them. */
static void unused(void) {
  for (int i = 0; i < rounds; ++i) {
    const int one = 1, next = (rank + 1) % size;
    MPI_Comm duplicate, part, graph, second;
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &part);
    MPI_Dist_graph_create(duplicate, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Comm_dup(duplicate, &second);
    MPI_Comm_free(&second);
    MPI_Comm_free(&graph);
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
    MPI_Comm_free(&duplicate);
  }
}

/* Creates duplicates with a nonblocking call on each: Taut serves all of them. */
static void used(void) {
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm duplicate;
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    nonblocking_sum(duplicate, most);
    MPI_Comm_free(&duplicate);
  }
}

static void persistent(int n) {
  for (int i = 0; i < rounds; ++i) {
    MPI_Request request;
    MPI_Allreduce_init(mine, sums, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int k = 0; k < starts; ++k) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      check(n, size);
    }
    MPI_Request_free(&request);
  }
}

/* Creates two requests at a time, which ranks start and free in different orders. */
static void order(void) {
  const int turned = rank % 2;
  static double other[most];
  for (int i = 0; i < rounds; ++i) {
    MPI_Request both[2];
    MPI_Allreduce_init(mine, sums, most, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
    MPI_Allreduce_init(mine, other, most, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
    MPI_Start(&both[turned]);
    MPI_Start(&both[1 - turned]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    check(most, size);
    memcpy(sums, other, sizeof sums);
    check(most, size);
    MPI_Request_free(&both[1 - turned]);
    MPI_Request_free(&both[turned]);
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const char* const part = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < most; ++i) mine[i] = 1e-4 * i + rank;
  splits = 0; /* without those of MPI_Init */
  if (strcmp(part, "unused") == 0) unused();
  if (strcmp(part, "used") == 0) used();
  if (strcmp(part, "small") == 0) persistent(8);
  if (strcmp(part, "large") == 0) persistent(most);
  if (strcmp(part, "order") == 0) order();
  int all_right = 0;
  MPI_Reduce(&right, &all_right, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("splits %d, sums %s\n", splits, all_right ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}

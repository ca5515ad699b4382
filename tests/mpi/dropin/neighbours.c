/* A program of plain MPI that exchanges blocks with neighbours: in a periodic grid of one dimension, where
   two ranks may be neighbours in both directions, in a grid with ends, and in a distributed graph. It writes
   the results as calls.c does. */
#include "calls.h"

static int nonblocking;
enum { most_neighbours = 2 };

/* Neighbours of this rank. Block i comes from block sent_as[i] of sources[i]. */
struct neighbours {
  MPI_Comm comm;
  int n, is_grid, sources[most_neighbours], sent_as[most_neighbours];
};

static struct neighbours make_grid(int periodic) {
  struct neighbours grid = {MPI_COMM_NULL, 2, 1, {0, 0}, {1, 0}};
  MPI_Cart_create(comm, 1, &size, &periodic, 0, &grid.comm);
  MPI_Cart_shift(grid.comm, 0, 1, &grid.sources[0], &grid.sources[1]);
  return grid;
}

enum function { alltoall, alltoallv, alltoallw };

/* Finds the numbers of the blocks in a grid: where two ranks are neighbours in both directions, MPIs and
   their functions differ. */
static void find_order(struct neighbours* all, enum function function) {
  const int numbers[] = {0, 1}, ones[] = {1, 1}, places[] = {0, 1};
  const MPI_Aint bytes[] = {0, sizeof(int)};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  int* const to = all->sent_as;
  if (!all->is_grid) return;
  if (function == alltoall) MPI_Neighbor_alltoall(numbers, 1, MPI_INT, to, 1, MPI_INT, all->comm);
  if (function == alltoallv)
    MPI_Neighbor_alltoallv(numbers, ones, places, MPI_INT, to, ones, places, MPI_INT, all->comm);
  if (function == alltoallw)
    MPI_Neighbor_alltoallw(numbers, ones, bytes, types, to, ones, bytes, types, all->comm);
  ++made;
}

/* The next rank but one and the next rank; in a pair of ranks the rank itself and the other one. */
static struct neighbours make_graph(void) {
  struct neighbours made = {
      MPI_COMM_NULL, 2, 0, {(rank + size - 2) % size, (rank + size - 1) % size}, {0, 1}};
  const int targets[most_neighbours] = {(rank + 2) % size, (rank + 1) % size};
  MPI_Dist_graph_create_adjacent(comm, 2, made.sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &made.comm);
  return made;
}

/* Expects `count` values in each block that is received, which begins at place i * block; MPI_PROC_NULL: what
   was there. `gathered`: the block is the first one of its rank. */
static void expect_from(const struct neighbours* all, const int places[], int count, int gathered) {
  float gap;
  memset(&gap, 0x5a, sizeof gap);
  for (int i = 0; i < all->n; ++i)
    for (long k = 0; k < block; ++k) {
      const int source = all->sources[i], known = source != MPI_PROC_NULL && k < count;
      const long first = gathered ? 0 : places[all->sent_as[i]];
      exact[i * (long)block + k] = known ? value(source, first + k) : (double)gap;
    }
}

static void exchange(struct neighbours* all, const char* title) {
  const int places[] = {0, block}, turned[] = {block, 0}, counts[] = {block - 5, block - 5};
  char name[100];
  begin(), expect_from(all, places, block, 1), snprintf(name, sizeof name, "%s,allgather", title);
  MPI_Neighbor_allgather(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, all->comm), end(name, 2 * block);
  begin(), expect_from(all, places, block - 5, 1), snprintf(name, sizeof name, "%s,allgatherv", title);
  MPI_Neighbor_allgatherv(send, block - 5, MPI_FLOAT, receive, counts, places, MPI_FLOAT, all->comm);
  end(name, 2 * block);
  find_order(all, alltoall);
  begin(), expect_from(all, places, block, 0), snprintf(name, sizeof name, "%s,alltoall", title);
  MPI_Neighbor_alltoall(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, all->comm), end(name, 2 * block);
  find_order(all, alltoallv);
  begin(), expect_from(all, turned, block - 5, 0), snprintf(name, sizeof name, "%s,alltoallv", title);
  MPI_Neighbor_alltoallv(send, counts, turned, MPI_FLOAT, receive, counts, places, MPI_FLOAT, all->comm);
  end(name, 2 * block);
}

static void exchange_typed(struct neighbours* all, const char* title) {
  const int places[] = {0, block}, counts[] = {block - 5, block - 5};
  const MPI_Aint bytes[] = {0, block * (MPI_Aint)sizeof(float)};
  const MPI_Datatype types[] = {MPI_FLOAT, MPI_FLOAT};
  char name[100];
  find_order(all, alltoallw);
  begin(), expect_from(all, places, block - 5, 0), snprintf(name, sizeof name, "%s,alltoallw", title);
  MPI_Neighbor_alltoallw(send, counts, bytes, types, receive, counts, bytes, types, all->comm);
  end(name, 2 * block);
}

static void came(const char* name, long n) {
  end(name, n);
  ++nonblocking;
}

static void start_and_wait(const struct neighbours* all) {
  const int places[] = {0, block}, counts[] = {block - 5, block - 5};
  MPI_Request request;
  begin(), expect_from(all, places, block, 1);
  MPI_Ineighbor_allgather(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, all->comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Ineighbor_allgather", 2 * block);
  begin(), expect_from(all, places, block - 5, 1);
  MPI_Ineighbor_allgatherv(send, block - 5, MPI_FLOAT, receive, counts, places, MPI_FLOAT, all->comm,
                           &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Ineighbor_allgatherv", 2 * block);
  begin(), expect_from(all, places, block, 0);
  MPI_Ineighbor_alltoall(send, block, MPI_FLOAT, receive, block, MPI_FLOAT, all->comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Ineighbor_alltoall", 2 * block);
  begin(), expect_from(all, places, block - 5, 0);
  MPI_Ineighbor_alltoallv(send, counts, places, MPI_FLOAT, receive, counts, places, MPI_FLOAT, all->comm,
                          &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Ineighbor_alltoallv", 2 * block);
}

static void start_and_wait_typed(const struct neighbours* all) {
  const int places[] = {0, block}, counts[] = {block - 5, block - 5};
  const MPI_Aint bytes[] = {0, block * (MPI_Aint)sizeof(float)};
  const MPI_Datatype types[] = {MPI_FLOAT, MPI_FLOAT};
  MPI_Request request;
  begin(), expect_from(all, places, block - 5, 0);
  MPI_Ineighbor_alltoallw(send, counts, bytes, types, receive, counts, bytes, types, all->comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), came("Ineighbor_alltoallw", 2 * block);
}

static void all_calls(MPI_Comm on, const char* title) {
  use(on, title);
  struct neighbours ring = make_grid(1), line = make_grid(0), graph = make_graph();
  exchange(&ring, "ring");
  exchange(&line, "line");
  exchange(&graph, "graph");
  exchange_typed(&ring, "ring"), exchange_typed(&line, "line"), exchange_typed(&graph, "graph");
  start_and_wait(&graph);
  start_and_wait_typed(&graph);
  MPI_Comm_free(&ring.comm), MPI_Comm_free(&line.comm), MPI_Comm_free(&graph.comm);
}

int main(int argc, char** argv) { return make_calls(argc, argv, all_calls, &nonblocking); }

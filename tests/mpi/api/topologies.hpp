// Communicators with all kinds of topologies.
#pragma once

#include <functional>

#include "mpi/api/world.hpp"

namespace taut::test {

struct Topology {
  std::string name;
  MPI_Comm comm;
  std::vector<int> sources, targets;  // neighbours in the order of the blocks, MPI_PROC_NULL included
};

inline Topology grid(MPI_Comm parent, std::vector<int> dims, std::vector<int> periods) {
  Topology made{"grid", MPI_COMM_NULL, {}, {}};
  const int n = static_cast<int>(dims.size());
  MPI_Cart_create(parent, n, dims.data(), periods.data(), 0, &made.comm);
  for (const int dim : dims) made.name += " " + std::to_string(dim);
  for (int d = 0; d < n; ++d) {
    int minus = 0, plus = 0;
    MPI_Cart_shift(made.comm, d, 1, &minus, &plus);
    made.sources.insert(made.sources.end(), {minus, plus});
  }
  made.targets = made.sources;
  return made;
}

// Returns a graph with these edges from each rank; `twice`: as MPI_Graph_create takes it, in both directions.
inline Topology distributed_graph(MPI_Comm parent, const char* name,
                                  const std::function<std::vector<int>(int)>& targets_of) {
  const int P = size_of_comm(parent), me = rank_of(parent);
  Topology made{name, MPI_COMM_NULL, {}, targets_of(me)};
  for (int r = 0; r < P; ++r)
    for (const int target : targets_of(r))
      if (target == me) made.sources.push_back(r);
  std::vector<int> from = made.sources, to = made.targets;
  from.push_back(0), to.push_back(0);  // never empty: some MPIs reject null arrays
  const std::vector<int> weights(std::max(from.size(), to.size()), 1);
  MPI_Dist_graph_create_adjacent(parent, static_cast<int>(made.sources.size()), from.data(), weights.data(),
                                 static_cast<int>(made.targets.size()), to.data(), weights.data(),
                                 MPI_INFO_NULL, 0, &made.comm);
  return made;
}

// Returns the graph in which each rank has both its neighbours in the ring of ranks, one of them twice.
inline Topology graph(MPI_Comm parent) {
  const int P = size_of_comm(parent), me = rank_of(parent);
  std::vector<int> index, edges;
  for (int r = 0; r < P; ++r) {
    edges.insert(edges.end(), {(r + 1) % P, (r + P - 1) % P, r});
    index.push_back(static_cast<int>(edges.size()));
  }
  Topology made{"graph", MPI_COMM_NULL, {(me + 1) % P, (me + P - 1) % P, me}, {}};
  made.targets = made.sources;
  MPI_Graph_create(parent, P, index.data(), edges.data(), 0, &made.comm);
  return made;
}

// Calls `work` with each topology that the ranks of `parent` can have.
inline void with_topologies(MPI_Comm parent, const std::function<void(const Topology&)>& work) {
  const int P = size_of_comm(parent);
  std::vector<Topology> all{grid(parent, {P}, {0}), grid(parent, {P}, {1}), grid(parent, {P, 1}, {1, 1}),
                            grid(parent, {1, P, 1}, {1, 0, 0}), graph(parent)};
  if (P % 2 == 0) all.push_back(grid(parent, {P / 2, 2}, {1, 1}));
  all.push_back(distributed_graph(parent, "star", [P](int r) {  // from the first rank to all others
    std::vector<int> targets;
    for (int i = 1; r == 0 && i < P; ++i) targets.push_back(i);
    return targets;
  }));
  all.push_back(distributed_graph(parent, "multigraph", [P](int r) {
    return std::vector<int>{(r + 1) % P, r, (r + 1) % P, (r + 2) % P};
  }));
  all.push_back(distributed_graph(parent, "no edges", [](int) { return std::vector<int>{}; }));
  all.push_back(distributed_graph(parent, "many edges", [P](int r) {
    std::vector<int> targets;
    for (int i = 0; i < 3 * P; ++i) targets.push_back((r + i) % P);
    return targets;
  }));
  for (Topology& one : all) {
    SCOPED_TRACE(one.name);
    MPI_Comm_set_errhandler(one.comm, MPI_ERRORS_RETURN);
    work(one);
    MPI_Comm_free(&one.comm);
  }
}

}  // namespace taut::test

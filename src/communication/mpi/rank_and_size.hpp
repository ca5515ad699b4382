// RankAndSize: the rank of this process in a communicator, and the number of the communicator's ranks.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace taut::api {

struct RankAndSize {
  int rank = 0, size = 1;

  bool has(int root) const noexcept { return root >= 0 && root < size; }
  std::size_t index() const noexcept { return static_cast<std::size_t>(rank); }
  std::size_t count() const noexcept { return static_cast<std::size_t>(size); }
};

inline RankAndSize rank_and_size_of(MPI_Comm comm) {
  RankAndSize group;
  PMPI_Comm_rank(comm, &group.rank);
  PMPI_Comm_size(comm, &group.size);
  return group;
}

// Returns the number of blocks in the arrays of a collective: one for each rank, in an intercommunicator for
// each rank of the other group. 0 if MPI cannot say.
inline int block_count(MPI_Comm comm) {
  int size = 0, inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  const int code = inter != 0 ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size);
  return code == MPI_SUCCESS ? size : 0;
}

}  // namespace taut::api

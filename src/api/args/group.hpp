// Rank of this process in an intracommunicator, and the number of ranks.
#pragma once

#include <mpi.h>

#include "core/slice.hpp"

namespace taut::api {

struct Group {
  int rank = 0, size = 1;

  bool has(int root) const noexcept { return root >= 0 && root < size; }
  std::size_t index() const noexcept { return static_cast<std::size_t>(rank); }
  std::size_t count() const noexcept { return static_cast<std::size_t>(size); }
  ConstSlice own_block(ConstSlice all) const noexcept { return block(all, index(), count()); }
};

inline Group group_of(MPI_Comm comm) noexcept {
  Group group;
  PMPI_Comm_rank(comm, &group.rank);
  PMPI_Comm_size(comm, &group.size);
  return group;
}

}  // namespace taut::api

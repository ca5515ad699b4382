// Blocks of floats with gaps between them, as arguments of the calls that take counts and displacements.
#pragma once

#include "mpi/api/world.hpp"

namespace taut::test {

// Layout of n blocks, of which block i has count_of(i) values. No array is empty, as some MPIs reject null.
struct GappedBlocks {
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> displacements;
  std::vector<int> int_counts, int_displacements;
  std::size_t extent = 2;

  GappedBlocks(int n, const std::function<int(int)>& count_of) {
    for (int i = 0; i <= n; ++i) {
      int_counts.push_back(i < n ? count_of(i) : 0);
      int_displacements.push_back(static_cast<int>(extent));
      counts.push_back(int_counts.back());
      displacements.push_back(int_displacements.back());
      extent += static_cast<std::size_t>(counts.back() + i % 3);
    }
  }
};

}  // namespace taut::test

// Copies of int arrays (counts, displacements) as MPI_Count or MPI_Aint, for the large-count functions (_c).
#pragma once

#include <mpi.h>

#include <limits>
#include <vector>

#include "communication/mpi/rank_and_size.hpp"
#include "communication/mpi/topology.hpp"

namespace taut::dropin {

// In place of a root, for collectives that have none. No rank, and no constant of MPI.
inline constexpr int every_rank = std::numeric_limits<int>::min();

// Returns the number of blocks that the arrays of a call describe; 0 where MPI does not read the arrays,
// which is away from the root. `comm` is an intracommunicator, because no other is intercepted.
inline int blocks_read_here(MPI_Comm comm, int root) noexcept {
  const api::RankAndSize group = api::rank_and_size_of(comm);
  return root == every_rank || root == group.rank ? group.size : 0;
}

template <class Number>
class Widened {
 public:
  // Copies the first n of `numbers`. The copy of a null pointer is null.
  Widened(const int* numbers, int n) : null_(numbers == nullptr) {
    numbers_.reserve(static_cast<std::size_t>(n) + 1);  // data() of an empty array is a valid pointer, too
    if (numbers != nullptr) numbers_.assign(numbers, numbers + n);
  }
  const Number* data() const noexcept { return null_ ? nullptr : numbers_.data(); }

 private:
  std::vector<Number> numbers_;
  bool null_;
};

}  // namespace taut::dropin

// Arrays of ints as the wider numbers of large-count calls.
#pragma once

#include <mpi.h>

#include <vector>

namespace taut::dropin {

inline constexpr int every_rank = -1;  // instead of a root: the blocks matter on every rank

// How many blocks the arrays of a call on `comm` are of here; 0 where they are not read.
inline int blocks(MPI_Comm comm, int root) noexcept {
  int rank = 0, size = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  return root == every_rank || root == rank ? size : 0;
}

template <class Number>
class Widened {
 public:
  // The first n of `numbers`; null stays null.
  Widened(const int* numbers, int n) {
    if (numbers != nullptr) numbers_.assign(numbers, numbers + n);
  }
  const Number* data() const noexcept { return numbers_.empty() ? nullptr : numbers_.data(); }

 private:
  std::vector<Number> numbers_;
};

}  // namespace taut::dropin

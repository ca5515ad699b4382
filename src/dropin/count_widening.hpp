// Conversion of int arrays to the wider numbers of large-count calls.
#pragma once

#include <mpi.h>

#include <vector>

#include "api/args/rank_and_size.hpp"
#include "api/args/topology.hpp"

namespace taut::dropin {

inline constexpr int every_rank = -1;  // in place of a root: the blocks matter on every rank

// Returns the number of blocks that the arrays of a call on `comm` describe on this rank; 0 if the arrays are
// not read on this rank.
inline int blocks(MPI_Comm comm, int root) noexcept {
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  const bool read = inter != 0 || root == every_rank || api::rank_and_size_of(comm).rank == root;
  return read ? api::block_count(comm) : 0;
}

template <class Number>
class Widened {
 public:
  // Copies the first n of `numbers`; null stays null.
  Widened(const int* numbers, int n) : null_(numbers == nullptr) {
    numbers_.reserve(static_cast<std::size_t>(n) + 1);  // an array of no numbers is not null either
    if (numbers != nullptr) numbers_.assign(numbers, numbers + n);
  }
  const Number* data() const noexcept { return null_ ? nullptr : numbers_.data(); }

 private:
  std::vector<Number> numbers_;
  bool null_;
};

}  // namespace taut::dropin

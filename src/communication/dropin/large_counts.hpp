// Calls that MPI offers both with int and with large counts: conversion of large-count arguments to int for
// an MPI without large-count calls, and copies of int arrays for the large-count functions (_c).
#pragma once

#include <mpi.h>

#include <limits>
#include <memory>

#include "communication/dropin/next_symbol.hpp"
#include "communication/mpi/errors.hpp"
#include "communication/mpi/pmpi_counts.hpp"
#include "communication/mpi/rank_and_size.hpp"
#include "communication/mpi/topology.hpp"

namespace taut::dropin {

// Returns `number` as an int. Throws Error if the number does not fit.
template <class Number>
int narrowed(Number number) {
  if (number != static_cast<int>(number)) throw Error(Status::invalid_count, "a count that needs MPI 4");
  return static_cast<int>(number);
}

// Returns the first n of `numbers` as ints; null stays null. The copy is never freed: MPI may read the array
// until a request is freed, and Taut is not told of that. Throws Error.
template <class Number>
const int* narrowed_for_good(const Number* numbers, int n) {
  static const int none = 0;  // an array of no numbers is not null either
  if (numbers == nullptr) return nullptr;
  if (n == 0) return &none;
  auto narrow = std::make_unique<int[]>(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) narrow[static_cast<std::size_t>(i)] = narrowed(numbers[i]);
  return narrow.release();
}

inline bool has(Wrapped function) noexcept { return next_as<void*>(function) != nullptr; }

// Calls `one(large, counts)`; if MPI lacks the large-count function, calls `one(function, ints)`.
template <class One, class... Counts>
int by_large(Wrapped large, Wrapped function, MPI_Comm comm, One one, Counts... counts) {
  if (has(large)) return one(large, counts...);
  return api::guard(comm, [&] { return one(function, narrowed(counts)...); });
}

// ---- From int

// In place of a root, for collectives that have none. No rank, and no constant of MPI.
inline constexpr int every_rank = std::numeric_limits<int>::min();

// Returns the number of blocks that the arrays of a call describe; 0 where MPI does not read the arrays,
// which is away from the root. `comm` is an intracommunicator, because no other is intercepted.
inline int blocks_read_here(MPI_Comm comm, int root) noexcept {
  const api::RankAndSize group = api::rank_and_size_of(comm);
  return root == every_rank || root == group.rank ? group.size : 0;
}

// Copy of an int array (counts, displacements) as MPI_Count or MPI_Aint.
template <class Number>
using Widened = api::pmpi::ConvertedArray<Number, int>;

}  // namespace taut::dropin

// Conversion of large-count arguments to int, for an MPI without large-count calls.
#pragma once

#include <mpi.h>

#include <memory>

#include "core/status.hpp"

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

}  // namespace taut::dropin

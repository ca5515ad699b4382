// Numbers of large-count calls as the ints of an MPI that has no such calls.
#pragma once

#include <mpi.h>

#include <memory>

#include "core/status.hpp"

namespace taut::dropin {

// Throws Error.
template <class Number>
int narrowed(Number number) {
  if (number != static_cast<int>(number)) throw Error(Status::invalid_count, "a count that needs MPI 4");
  return static_cast<int>(number);
}

// The first n of `numbers`; null stays null. They stay, since MPI may read them until a request is freed, of
// which nobody is told. Throws Error.
template <class Number>
const int* narrowed_for_good(const Number* numbers, int n) {
  if (numbers == nullptr || n == 0) return nullptr;
  auto narrow = std::make_unique<int[]>(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) narrow[static_cast<std::size_t>(i)] = narrowed(numbers[i]);
  return narrow.release();
}

}  // namespace taut::dropin

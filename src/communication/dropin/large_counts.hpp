// Calls that MPI offers both with int and with large counts, and conversion of large-count arguments to int
// for an MPI without large-count calls.
#pragma once

#include <memory>

#include "communication/dropin/next_symbol.hpp"
#include "communication/mpi/errors.hpp"

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

}  // namespace taut::dropin

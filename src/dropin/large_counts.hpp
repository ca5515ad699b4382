// Calls that MPI offers both with int and with large counts.
#pragma once

#include "api/errors.hpp"
#include "dropin/count_narrowing.hpp"
#include "dropin/next_symbol.hpp"

namespace taut::dropin {

inline bool has(Wrapped function) noexcept { return next_as<void*>(function) != nullptr; }

// Calls `one(large, counts)`; if MPI lacks the large-count function, calls `one(function, ints)`.
template <class One, class... Counts>
int by_large(Wrapped large, Wrapped function, MPI_Comm comm, One one, Counts... counts) noexcept {
  if (has(large)) return one(large, counts...);
  return api::guard(comm, [&] { return one(function, narrowed(counts)...); });
}

}  // namespace taut::dropin

// Calls that MPI has twice, for int and for large counts.
#pragma once

#include "api/errors.hpp"
#include "dropin/count_narrowing.hpp"
#include "dropin/next_symbol.hpp"

namespace taut::dropin {

inline bool has(Wrapped function) noexcept { return next_as<void*>(function) != nullptr; }

// Makes `one(function, counts)`, with ints where the MPI has no large counts.
template <class One, class... Counts>
int by_large(Wrapped large, Wrapped function, MPI_Comm comm, One one, Counts... counts) noexcept {
  if (has(large)) return one(large, counts...);
  return api::guard(comm, [&] { return one(function, narrowed(counts)...); });
}

}  // namespace taut::dropin

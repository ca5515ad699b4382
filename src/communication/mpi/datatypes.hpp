// MPI datatypes and operators that Taut knows.
#pragma once

#include <taut/taut.h>

#include <optional>

#include "compressor/values/reduction.hpp"

namespace taut::api {

// Predefined type whose values are numbers of a known kind. `computes` is false if MPI defines no operators
// on the type (bytes, characters): its values are only moved.
struct Datatype {
  DType type;
  bool computes;

  bool operator==(const Datatype&) const = default;
};

std::optional<Datatype> known_datatype(MPI_Datatype type) noexcept;

// Returns true for MPI's predefined operators and TAUT_Avg(), which are never freed.
bool is_predefined(MPI_Op op) noexcept;

// Reduction of a known type by a known operator. known_reduction() returns nothing if Taut leaves the pair to
// plain MPI, or if MPI does not define it.
struct KnownReduction {
  DType type;
  Reduction op;
  bool mean;  // the sum is divided by the number of ranks
};
std::optional<KnownReduction> known_reduction(MPI_Datatype type, MPI_Op op) noexcept;

}  // namespace taut::api

// MPI's datatypes and operators as the library knows them.
#pragma once

#include <taut/taut.h>

#include <optional>

#include "core/reduction.hpp"

namespace taut::api {

// A predefined type whose values are numbers of a known kind. `computes` is false where MPI defines no
// operators on it (bytes, characters): it is only moved.
struct Datatype {
  DType type;
  bool computes;

  bool operator==(const Datatype&) const = default;
};

std::optional<Datatype> known_datatype(MPI_Datatype type) noexcept;

// MPI's own operators, and TAUT_Avg(), which are never freed.
bool is_predefined(MPI_Op op) noexcept;

// Of these types under this operator; nothing for what the library leaves to MPI, or what MPI does not
// define.
struct Reducing {
  DType type;
  Reduction op;
  bool mean;  // a sum that is divided by the number of ranks
};
std::optional<Reducing> known_reduction(MPI_Datatype type, MPI_Op op) noexcept;

}  // namespace taut::api

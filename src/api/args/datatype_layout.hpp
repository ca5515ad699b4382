// What datatypes consist of, those of the user's making too, and their values in a row.
#pragma once

#include "api/args/datatypes.hpp"
#include "core/slice.hpp"

namespace taut::api {

// Of a datatype whose values are all of one kind that the library knows.
struct DatatypeLayout {
  Datatype is;
  std::size_t values = 1;  // of one element
  bool dense = true;       // elements in a row are values in a row, from their address on, in MPI's order

  DType type() const noexcept { return is.type; }
};
std::optional<DatatypeLayout> datatype_layout_of(MPI_Datatype type) noexcept;

// Bytes of `count` elements; less than 0: the arguments are for MPI to complain about.
MPI_Count bytes_of(MPI_Count count, MPI_Datatype type) noexcept;

// Of the user's making, to be freed by the user.
bool is_derived(MPI_Datatype type) noexcept;

// Whether elements that begin there are in memory of a GPU.
bool on_device(const void* at, MPI_Datatype type) noexcept;

// The values of `count` elements, in MPI's order; `to` has room for them. Throws Error.
void pack_values(const void* from, MPI_Count count, MPI_Datatype type, Bytes to);

// The way back. What stands between the values is not touched. Throws Error.
void unpack_values(ConstBytes from, void* to, MPI_Count count, MPI_Datatype type);

}  // namespace taut::api

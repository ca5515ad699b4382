// Layouts of datatypes, derived ones included, and packing of their values.
#pragma once

#include "communication/mpi/datatypes.hpp"
#include "compressor/values/reduction.hpp"

namespace taut::api {

// Layout of a datatype whose values are all of one predefined type that Taut knows.
struct DatatypeLayout {
  Datatype value_type;
  std::size_t values_per_element = 1;
  bool dense = true;  // the values of consecutive elements are contiguous from the buffer's address on, in
                      // the order of the type map

  DType type() const noexcept { return value_type.type; }
};
// Returns nothing if the values are of several kinds or of an unknown one. Cached as an attribute of the
// type.
std::optional<DatatypeLayout> datatype_layout_of(MPI_Datatype type);

// Returns the bytes of `count` elements; -1 if an argument is invalid or the size overflows.
MPI_Count bytes_of(MPI_Count count, MPI_Datatype type);

// Returns true if the datatype is derived: a constructor made it, and its handle has to be freed.
bool is_derived(MPI_Datatype type);

// Returns true if elements that begin at `at` are in GPU memory.
bool on_device(const void* at, MPI_Datatype type);

// Copies the values of `count` elements to `to`, contiguous and in MPI's order. `to` must have room for them.
// Throws Error.
void pack_values(const void* from, MPI_Count count, MPI_Datatype type, Bytes to);

// Copies contiguous values back into `count` elements. Gaps between the values are not touched. Throws Error.
void unpack_values(ConstBytes from, void* to, MPI_Count count, MPI_Datatype type);

}  // namespace taut::api

// Collective calls for taut_failures, in sets. The sets together have every kind of collective call.
#pragma once

#include <taut/taut.h>

#include <string_view>
#include <vector>

namespace taut::test {

constexpr int count = 20000;  // values of a block

// Arguments of a call on a number of ranks: values, and blocks of `count` values one after the other.
struct Buffers {
  explicit Buffers(int ranks);
  std::vector<float> in, out;
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> displs, bytes;  // where blocks begin, in values and in bytes
  std::vector<MPI_Datatype> types;
};

struct Call {
  const char* name;
  bool on_ring;  // is for a communicator with neighbours
  int (*start)(Buffers&, MPI_Comm, TAUT_Request*);
};

// Returns the calls of a set: reductions, moves, blocks, neighbors. Of another name: none.
const std::vector<Call>& calls_of(std::string_view set);

}  // namespace taut::test

// The collectives that are measured: the call, its exact result, and the least bytes to send.
#pragma once

#include <mpi.h>

#include <span>
#include <string>

#include "data.hpp"

namespace bench {

// Arguments of one call. All buffers belong to the caller.
struct Call {
  MPI_Comm comm;
  int rank, ranks;
  MPI_Datatype type;
  std::size_t value_bytes;    // bytes of one value
  std::size_t count;          // values of the whole buffer, a multiple of `ranks`
  std::byte *send, *receive;  // count values each

  std::size_t block() const noexcept { return count / static_cast<std::size_t>(ranks); }
};

struct Collective {
  const char* name;
  bool reduces;      // true for a sum: the bound of each rank's values is the bound over the number of ranks
  bool same_on_all;  // true if all ranks receive the same values
  void (*plain)(const Call&);
  void (*taut)(const Call&);
  std::size_t (*received)(const Call&);                           // number of values that this rank receives
  double (*exact)(const Call&, const Data& data, std::size_t i);  // exact value i of them
  double (*busiest_sends)(double bytes, int ranks);               // least bytes that the busiest rank sends
};

std::span<const Collective> collectives();
const Collective& find_collective(const std::string& name);  // throws std::invalid_argument

}  // namespace bench

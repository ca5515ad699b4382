// The collectives that are measured: how they are called, what they must return, what an ideal one sends.
#pragma once

#include <mpi.h>

#include <span>
#include <string>

#include "data.hpp"

namespace bench {

// One call's surroundings. All buffers belong to the caller.
struct Call {
  MPI_Comm comm;
  int rank, ranks;
  MPI_Datatype type;
  std::size_t value_bytes;    // of one value
  std::size_t count;          // values of the whole buffer, a multiple of ranks
  std::byte *send, *receive;  // count values each

  std::size_t block() const noexcept { return count / static_cast<std::size_t>(ranks); }
};

struct Collective {
  const char* name;
  bool reduces;      // a sum: each rank's values are within the bound over the number of ranks
  bool same_on_all;  // all ranks receive the same values
  void (*plain)(const Call&);
  void (*taut)(const Call&);
  std::size_t (*received)(const Call&);                           // values that this rank receives
  double (*exact)(const Call&, const Data& data, std::size_t i);  // what value i of them must be
  double (*busiest_sends)(double bytes, int ranks);               // bytes the busiest rank must send at least
};

std::span<const Collective> collectives();
const Collective& find_collective(const std::string& name);  // throws std::invalid_argument

}  // namespace bench

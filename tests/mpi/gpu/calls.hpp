// Collective calls of taut.h on memory of simulated GPUs, compared with the same calls on memory of the host.
#pragma once

#include <cuda_runtime.h>
#include <taut/taut.h>

#include <cstdio>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "support/gpu_driver.h"

namespace taut::test {

inline constexpr int count = 700;  // values for each rank

// One call, blocking, nonblocking and persistent. `in` and `out` have `count` values for each rank.
using Call = std::function<int(float* in, float* out, MPI_Comm comm)>;
struct Calls {
  std::string name;
  Call forms[3];
};

inline int wait_for(int code, TAUT_Request& request) {
  return code == MPI_SUCCESS ? TAUT_Wait(&request, MPI_STATUS_IGNORE) : code;
}

// `arguments`: returns the arguments before the communicator.
template <class Blocking, class Nonblocking, class Persistent, class Arguments>
Calls calls(std::string name, Blocking blocking, Nonblocking nonblocking, Persistent init,
            Arguments arguments) {
  const auto with = [arguments](auto function, float* in, float* out, auto... rest) {
    return std::apply(function, std::tuple_cat(arguments(in, out), std::tuple(rest...)));
  };
  return {std::move(name),
          {[=](float* in, float* out, MPI_Comm comm) { return with(blocking, in, out, comm); },
           [=](float* in, float* out, MPI_Comm comm) {
             TAUT_Request request = TAUT_REQUEST_NULL;
             return wait_for(with(nonblocking, in, out, comm, &request), request);
           },
           [=](float* in, float* out, MPI_Comm comm) {
             TAUT_Request request = TAUT_REQUEST_NULL;
             int code = with(init, in, out, comm, MPI_INFO_NULL, &request);
             if (code == MPI_SUCCESS) code = wait_for(TAUT_Start(&request), request);
             TAUT_Request_free(&request);
             return code;
           }}};
}

// Blocks of different sizes, in an order that is not that of the ranks.
struct Blocks {
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> places, bytes;
  std::vector<MPI_Datatype> types;

  explicit Blocks(int blocks, int less = 20) {
    for (int i = 0; i < blocks; ++i) {
      counts.push_back(count - less * i);
      places.push_back((blocks - 1 - i) * count);
      bytes.push_back(places.back() * static_cast<MPI_Aint>(sizeof(float)));
      types.push_back(MPI_FLOAT);
    }
  }
};

// All functions of communication/team/collectives.txt; those of neighbours for a communicator that is a ring.
std::vector<Calls> calls_of_ranks(int rank, int ranks);
std::vector<Calls> calls_of_neighbours();

}  // namespace taut::test

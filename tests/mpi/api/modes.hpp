// Calls by their blocking, nonblocking or persistent function: completion, and names of tests.
#pragma once

#include "mpi/api/world.hpp"

namespace taut::test {

// Completes a call that `mode` has made, and that has returned `code`. A persistent call is started `starts`
// times.
inline int complete(const Mode& mode, int code, int starts = 1) {
  for (int i = 0; mode.kind == Mode::persistent && i < starts && code == MPI_SUCCESS; ++i) {
    code = TAUT_Start(mode.request);
    if (code == MPI_SUCCESS) code = TAUT_Wait(mode.request, MPI_STATUS_IGNORE);
  }
  if (mode.kind == Mode::nonblocking && code == MPI_SUCCESS)
    code = TAUT_Wait(mode.request, MPI_STATUS_IGNORE);
  TAUT_Request_free(mode.request);
  return code;
}

// Returns the name of a test whose second parameter is a Mode::Kind.
template <class Parameters>
std::string name_by_mode(const testing::TestParamInfo<Parameters>& test) {
  const char* const kinds[] = {"Blocking", "Nonblocking", "Persistent"};
  return std::string(kinds[std::get<1>(test.param)]) + std::to_string(test.index);
}

}  // namespace taut::test

// Helpers of the tests of messages.
#pragma once

#include "mpi/api/world.hpp"
#include "support/guarded.hpp"

namespace taut::test {

inline int count_of(MPI_Status status, MPI_Datatype type) {
  int count = -2;
  MPI_Get_count(&status, type, &count);
  return count;
}

inline int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

inline std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

// Returns the greatest distance; infinite if one value is NaN and the other is not.
inline double distance(const Values& a, const Values& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.numbers(); ++i) {
    const double difference = std::abs(a.at(i) - b.at(i));
    most = std::max(most, std::isnan(difference) ? INFINITY : difference);
  }
  return most;
}

// Neighbours in a ring: each rank sends to the right and receives from the left.
struct Ring {
  explicit Ring(const Comm& comm)
      : rank(comm.rank()), right((rank + 1) % comm.size()), left((rank + comm.size() - 1) % comm.size()) {}
  int rank, right, left;
};

// Returns true for a communicator of one process, whose messages are plain MPI's.
inline bool alone(const Comm& comm) { return comm.size() < 2; }

}  // namespace taut::test

// Messages that have come where a program expects them, and may be coded (docs/adr/0014).
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "core/slice.hpp"

namespace taut::dropin {

struct Expected {
  void* buf;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Comm comm;
};

// Whether a coded message can come there.
bool may_be_coded(const Expected& expected) noexcept;

// After its arrival without an error, `status` is MPI's: puts values in the place of frames, and their number
// into the status. An MPI code, raised on the communicator.
int settle(const Expected& expected, MPI_Status& status) noexcept;

// A message in memory of Taut's, where it came because a probe had to know what is in it.
struct Apart {
  std::unique_ptr<std::byte[]> memory;
  std::size_t bytes = 0;

  explicit operator bool() const noexcept { return memory != nullptr; }
};

// Bytes of its values, or of all of it if it is not coded.
std::size_t bytes_of_values(const Apart& message) noexcept;

// Puts its values where they are expected; the rest as for settle.
int deliver(const Apart& message, const Expected& expected, MPI_Status& status) noexcept;

// The values that stand there, in a row. Throws Error.
std::vector<std::byte> packed(const Expected& at);

// By a function that MPICH 4.0 has as well.
void set_bytes(MPI_Status& status, std::size_t bytes) noexcept;

// Where the program wants a status, or memory of our own.
class StatusAt {
 public:
  explicit StatusAt(MPI_Status* wanted) noexcept : at_(wanted == MPI_STATUS_IGNORE ? &own_ : wanted) {}
  StatusAt(const StatusAt&) = delete;
  StatusAt& operator=(const StatusAt&) = delete;

  MPI_Status& operator*() noexcept { return *at_; }

 private:
  MPI_Status own_;
  MPI_Status* at_;
};

}  // namespace taut::dropin

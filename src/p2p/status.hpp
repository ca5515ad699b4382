// Byte counts in MPI statuses.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace taut::p2p {

// Returns the length of a message that was received or probed.
std::size_t bytes_of(const MPI_Status& status) noexcept;

void set_bytes(MPI_Status& status, std::size_t bytes) noexcept;

// Status that the program passed, or a status of Taut's own for MPI_STATUS_IGNORE.
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

}  // namespace taut::p2p

// Byte counts in MPI statuses.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace taut::p2p {

// Returns the length in bytes of the message that was received or probed.
std::size_t received_bytes(const MPI_Status& status) noexcept;

void set_received_bytes(MPI_Status& status, std::size_t bytes) noexcept;

// Status that can be read after a call of MPI: the program's, or one of this object if the program passed
// MPI_STATUS_IGNORE.
class ReadableStatus {
 public:
  explicit ReadableStatus(MPI_Status* wanted) noexcept : at_(wanted == MPI_STATUS_IGNORE ? &own_ : wanted) {}
  ReadableStatus(const ReadableStatus&) = delete;
  ReadableStatus& operator=(const ReadableStatus&) = delete;

  MPI_Status& operator*() noexcept { return *at_; }

 private:
  MPI_Status own_;
  MPI_Status* at_;
};

}  // namespace taut::p2p

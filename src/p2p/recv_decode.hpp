// Messages that have come, and may be coded: where they are coded, values take the place of frames.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "p2p/endpoint.hpp"
#include "p2p/status.hpp"

namespace taut::p2p {

// Where a receive expects its message, and what decodes and counts that.
struct RecvBuffer {
  void* buf;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Comm comm;                 // for errors; MPI_COMM_NULL: none is raised
  Endpoint* endpoint = nullptr;  // null: nothing coded can come
  const void* site = nullptr;    // where the program called from, if that is known
  std::uint64_t began = 0;       // of a call that is timed, by clock_now()
};

// Bytes of the elements.
std::size_t room(const RecvBuffer& at) noexcept;

// Whether a coded message can come there.
bool may_be_coded(const RecvBuffer& at) noexcept;

// After MPI has received a message there: decodes it if it is coded, puts the bytes of the values into
// `status`, which is MPI's, and counts it. An MPI code, raised on the communicator.
int finish_recv(const RecvBuffer& at, MPI_Status& status) noexcept;

// A message in memory of Taut's. A probe had to know what is in it.
struct Detached {
  std::unique_ptr<std::byte[]> memory;
  std::size_t bytes = 0;

  explicit operator bool() const noexcept { return memory != nullptr; }
};

// Bytes of its values, or of all of it if it is not coded.
std::size_t bytes_of_values(const Detached& message, const MessageFormat& format) noexcept;

// Puts its values where a receive expects them; the rest as for finish_recv.
int deliver(const Detached& message, const RecvBuffer& at, MPI_Status& status) noexcept;

// The values that stand there, in a row. Throws Error.
std::vector<std::byte> packed(const RecvBuffer& at);

}  // namespace taut::p2p

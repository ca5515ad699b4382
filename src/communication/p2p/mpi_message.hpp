// Messages as MPI's calls describe them: arguments, functions that send, statuses.
#pragma once

#include <mpi.h>

#include <algorithm>

#include "communication/mpi/datatype_layout.hpp"
#include "communication/mpi/pmpi_counts.hpp"

namespace taut::p2p {

class Endpoint;

// Source, tag and communicator that a receive or a probe names, wildcards included.
struct MatchKey {
  int source;
  int tag;
  MPI_Comm comm;
};

// Arguments of a call that sends or receives one message.
struct MpiMessage {
  const void* buf;
  MPI_Count count;
  MPI_Datatype type;
  int peer;  // destination or source, perhaps MPI_ANY_SOURCE
  int tag;
  MPI_Comm comm;                 // also for errors; MPI_COMM_NULL: none is raised
  const void* site = nullptr;    // call site in the program, if known
  Endpoint* endpoint = nullptr;  // of a receive: decodes and counts its message; null: it cannot be coded
  std::uint64_t began = 0;       // start of a timed receive, by clock_now()

  void* to() const noexcept { return const_cast<void*>(buf); }  // buffer of a receive
  MatchKey key() const noexcept { return {peer, tag, comm}; }
};

// Returns the bytes that the buffer of a receive has room for.
inline std::size_t room(const MpiMessage& recv) {
  return static_cast<std::size_t>(std::max<MPI_Count>(api::bytes_of(recv.count, recv.type), 0));
}

// Returns the bytes of the values of a message with this layout.
inline std::size_t bytes_of_values(const MpiMessage& message, const api::DatatypeLayout& kind) {
  return static_cast<std::size_t>(message.count) * kind.values_per_element * size_of(kind.type());
}

// ---- Functions of MPI that send one message, blocking and nonblocking

using SendFunction = int (*)(const void*, api::pmpi::Count, MPI_Datatype, int, int, MPI_Comm);
using StartFunction = int (*)(const void*, api::pmpi::Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

inline int send(SendFunction function, const MpiMessage& message) {
  const auto& m = message;
  return function(m.buf, static_cast<api::pmpi::Count>(m.count), m.type, m.peer, m.tag, m.comm);
}
inline int start(StartFunction function, const MpiMessage& message, MPI_Request* request) {
  const auto& m = message;
  return function(m.buf, static_cast<api::pmpi::Count>(m.count), m.type, m.peer, m.tag, m.comm, request);
}

// ---- Statuses

// Returns the length in bytes of the message that was received or probed.
inline std::size_t received_bytes(const MPI_Status& status) noexcept {
  MPI_Count bytes = 0;
#if MPI_VERSION >= 4
  PMPI_Get_count_c(&status, MPI_BYTE, &bytes);
#else
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
#endif
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

// Sets the count by the function of MPI 3, because MPICH 4.0 has no MPI_Status_set_elements_c.
inline void set_received_bytes(MPI_Status& status, std::size_t bytes) noexcept {
  PMPI_Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(bytes));
}

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

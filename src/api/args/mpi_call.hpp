// One collective call with the arguments that MPI has for it, as the program gave them.
#pragma once

#include <mpi.h>

#include "collective_functions.hpp"

namespace taut::api {

// A buffer: elements of one datatype in a row, or blocks of them, one for each rank.
struct BufferArg {
  const void* at = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const MPI_Count* counts = nullptr;    // of each block, where the function takes such
  const MPI_Aint* displs = nullptr;     // where each block begins
  const MPI_Datatype* types = nullptr;  // of each block

  void* writable() const noexcept { return const_cast<void*>(at); }
};

// Functions with one buffer have it as `recv`. Reductions have their count and type there, and the address
// alone in `send`.
struct MpiCall {
  Function function = Function::none;
  BufferArg send = {}, recv = {};
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  const void* site = nullptr;  // where the program called from

  const FunctionInfo& info() const noexcept { return info_of(function); }
  bool reduces() const noexcept { return taut::reduces(info().collective); }
};

// Which buffers matter on a rank. `at_root`: the call's root is this rank.
struct Significance {
  Significance(const MpiCall& call, bool at_root) noexcept {
    const FunctionInfo& info = call.info();
    const bool decides = at_root || !(info.send_at_root || info.recv_at_root);
    send = info.send_at_root ? at_root : !(decides && call.send.at == MPI_IN_PLACE);
    recv = info.recv_at_root ? at_root : !(decides && info.send_at_root && call.recv.at == MPI_IN_PLACE);
  }
  bool send, recv;
};

// The buffer that says how long the message is, of those that matter on rank `me`.
inline const BufferArg& telling_buffer(const MpiCall& call, int me) noexcept {
  const FunctionInfo& info = call.info();
  return (info.send_at_root && me == call.root) || (info.recv_at_root && me != call.root) ? call.send
                                                                                          : call.recv;
}

// Whether two calls of rank `me` on one communicator ask for the same, whatever their memory and their root:
// the same function with the same type, count and operator from the same place. Looks at no datatype, and at
// no array of counts: functions that have one are for the caller to leave out.
inline bool alike(const MpiCall& a, const MpiCall& b, int me) noexcept {
  if (a.function != b.function || a.site != b.site || a.op != b.op) return false;
  if (a.root == b.root && a.recv.count == b.recv.count && a.recv.type == b.recv.type &&
      a.send.count == b.send.count && a.send.type == b.send.type)
    return true;
  const BufferArg &of_a = telling_buffer(a, me), &of_b = telling_buffer(b, me);
  return of_a.count == of_b.count && of_a.type == of_b.type;
}

}  // namespace taut::api

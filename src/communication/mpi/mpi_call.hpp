// MpiCall: one collective call with its MPI arguments, as the program passed them.
#pragma once

#include <mpi.h>

#include "collective_functions.hpp"

namespace taut::api {

// Buffer argument: contiguous elements of one datatype, or one block of elements for each rank.
struct BufferArg {
  const void* at = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const MPI_Count* counts = nullptr;    // elements of each block, if the function takes counts
  const MPI_Aint* displs = nullptr;     // displacement of each block
  const MPI_Datatype* types = nullptr;  // datatype of each block

  void* writable() const noexcept { return const_cast<void*>(at); }
};

// Arguments of a collective call. A function with one buffer has it in `recv`. A reduction has its count and
// type in `recv`, and only an address in `send`.
struct MpiCall {
  Function function = Function::none;
  BufferArg send = {}, recv = {};
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  const void* site = nullptr;  // call site: return address in the program
  bool plain = false;          // plain MPI serves the call, whatever policy or rules say

  const FunctionInfo& info() const noexcept { return info_of(function); }
  bool reduces() const noexcept { return taut::reduces(info().collective); }
};

// Returns the call as one that plain MPI serves.
inline MpiCall as_plain(MpiCall call) noexcept {
  call.plain = true;
  return call;
}

// Buffers that are significant on a rank. `at_root`: this rank is the root of the call.
struct Significance {
  Significance(const MpiCall& call, bool at_root) noexcept {
    const FunctionInfo& info = call.info();
    const bool decides = at_root || !(info.send_at_root || info.recv_at_root);
    send = info.send_at_root ? at_root : !(decides && call.send.at == MPI_IN_PLACE);
    recv = info.recv_at_root ? at_root : !(decides && info.send_at_root && call.recv.at == MPI_IN_PLACE);
  }
  bool send, recv;
};

// Returns the buffer that determines the length of the message, among the buffers that are significant on
// rank `me`.
inline const BufferArg& telling_buffer(const MpiCall& call, int me) noexcept {
  const FunctionInfo& info = call.info();
  return (info.send_at_root && me == call.root) || (info.recv_at_root && me != call.root) ? call.send
                                                                                          : call.recv;
}

// Returns true if two calls of rank `me` on one communicator request the same: the same function with the
// same type, count and operator. Buffer addresses, root and call site may differ. Inspects neither datatypes
// nor arrays of counts; the caller must exclude functions with counts.
inline bool alike(const MpiCall& a, const MpiCall& b, int me) noexcept {
  if (a.function != b.function || a.op != b.op) return false;
  if (a.root == b.root && a.recv.count == b.recv.count && a.recv.type == b.recv.type &&
      a.send.count == b.send.count && a.send.type == b.send.type)
    return true;
  const BufferArg &of_a = telling_buffer(a, me), &of_b = telling_buffer(b, me);
  return of_a.count == of_b.count && of_a.type == of_b.type;
}

}  // namespace taut::api

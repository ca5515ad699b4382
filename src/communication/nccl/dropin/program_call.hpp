// A ProgramCall is a call of an unchanged program that keeps its order among the calls on a communicator.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>

#include "communication/nccl/call.hpp"
#include "communication/nccl/dropin/counts.hpp"

namespace taut::nccl::dropin {

class CodedMessage;

// Arguments of ncclSend or ncclRecv.
struct Message {
  bool sends;
  void* buffer;
  std::size_t count;
  int datatype;
  int peer;
  ncclComm* comm;
  void* stream;
  std::shared_ptr<CodedMessage> coded = {};  // its frame moves in place of the values; null: the values move
};

// Arguments of ncclRedOpDestroy. It keeps its order because earlier calls may still need the operator.
struct DestroyOperator {
  int op;
  ncclComm* comm;
};

// The function of NCCL that the program calls, and its arguments.
struct ProgramCall {
  Function function;
  std::variant<NcclCall, Message, DestroyOperator> arguments;
  bool by_taut = false;  // a collective call that the rules select

  ncclComm* comm() const noexcept;
  // Returns true if the call has a stream, and then sets `stream`.
  bool has_stream(void*& stream) const noexcept;
  // Moves the call to another stream, if it has one.
  void set_stream(void* stream) noexcept;
  // Returns the collective call; null if this is none.
  const NcclCall* collective() const noexcept { return std::get_if<NcclCall>(&arguments); }
  // Returns the message; null if this is none.
  const Message* message() const noexcept { return std::get_if<Message>(&arguments); }
  Message* message() noexcept { return std::get_if<Message>(&arguments); }
  // Returns the bytes of the whole message, all blocks included.
  std::size_t bytes(int ranks) const noexcept;
};

// Makes the call by NCCL's own function. Returns NCCL's result. Throws Error if there is no NCCL.
int run_uncounted(const ProgramCall& call, int ranks);

// Makes the call by NCCL's own function, and counts it: of a coded message, NCCL moves the frame. Returns
// NCCL's result. Throws Error if there is no NCCL.
int run_by_nccl(const ProgramCall& call, int ranks);

// ncclGroupStart and ncclGroupEnd under the drop-in. Both return NCCL's results, and throw Error.
int start_group();
int end_group();

// ncclGroupSimulateEnd under the drop-in: ends the group, and NCCL estimates the time of its calls in place
// of making them. `estimate`: NCCL's ncclSimInfo_t. Returns NCCL's result, and throws Error.
int simulate_group(int (*simulate_end)(void* estimate), void* estimate);

// Makes a call, now or at the end of the group.
int issue(const ProgramCall& call);

// Notes `n` communicators that the program has created. Taut may serve their calls after the group.
int note_created(ncclComm** comms, int n);

}  // namespace taut::nccl::dropin

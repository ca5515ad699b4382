// The C functions of taut_nccl.h for messages, and groups of them.
#include <taut/taut_nccl.h>

#include <utility>
#include <vector>

#include "communication/nccl/calls.hpp"
#include "compressor/base/device_memory.hpp"

namespace taut::nccl {
namespace {

thread_local int depth = 0;
thread_local std::vector<NcclMessage> waiting;  // messages of the group that this thread has open

// Serves the messages of a group: those on one communicator and stream together, in their order.
void serve_waiting() {
  std::vector<NcclMessage> all = std::exchange(waiting, {});
  while (!all.empty()) {
    const NcclMessage first = all.front();
    const auto beside = [&](const NcclMessage& other) {
      return other.comm == first.comm && other.stream == first.stream;
    };
    std::vector<NcclMessage> together;
    for (const NcclMessage& message : all)
      if (beside(message)) together.push_back(message);
    std::erase_if(all, beside);
    if (const std::shared_ptr<CommState> state = find_state(first.comm))
      state->serve(together);
    else
      run_plain(library(), together);
  }
}

int add(const NcclMessage& message, const void* buffer, const char* argument) noexcept {
  return guard([&] {
    if (message.comm == nullptr) throw Error(Status::invalid_argument, "comm is NULL");
    if (dtype_of_nccl(message.datatype) == DType{})
      throw Error(Status::invalid_type, "datatype is none that Taut moves: call ncclSend and ncclRecv");
    if (!on_device(buffer))
      throw Error(Status::invalid_argument, std::string(argument) + " is not memory of a GPU");
    waiting.push_back(message);
    if (depth == 0) serve_waiting();
  });
}

}  // namespace
}  // namespace taut::nccl

using namespace taut::nccl;

int TAUT_Nccl_Send(const void* sendbuff, size_t count, int datatype, int peer, ncclComm* comm, void* stream) {
  return add({sendbuff, nullptr, count, datatype, peer, comm, stream}, sendbuff, "sendbuff");
}

int TAUT_Nccl_Recv(void* recvbuff, size_t count, int datatype, int peer, ncclComm* comm, void* stream) {
  return add({nullptr, recvbuff, count, datatype, peer, comm, stream}, recvbuff, "recvbuff");
}

int TAUT_Nccl_GroupStart() {
  ++depth;
  return 0;
}

int TAUT_Nccl_GroupEnd() {
  return taut::guard([] {
    if (depth == 0) throw taut::Error(taut::Status::invalid_argument, "TAUT_Nccl_GroupEnd without a start");
    if (--depth == 0) serve_waiting();
  });
}

// The C functions of taut_nccl.h: their errors (guard()), the states of communicators, and groups of
// messages.
#include <taut/taut_nccl.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "communication/nccl/comm_state.hpp"
#include "compressor/base/device_memory.hpp"
#include "compressor/base/guarded.hpp"

namespace taut::nccl {
namespace {

// States of all communicators. The object is never destroyed: the program may use a communicator until its
// end.
struct CommStates {
  std::mutex mutex;
  std::map<ncclComm*, std::shared_ptr<CommState>> by_comm;
};
CommStates& states() {
  static auto* const one = new CommStates;
  return *one;
}

void set_state(ncclComm* comm, std::shared_ptr<CommState> state) {
  const std::lock_guard lock(states().mutex);
  std::swap(states().by_comm[comm], state);  // the old state is freed after the lock
}

// Returns the state of a communicator; null if there is none.
std::shared_ptr<CommState> find_state(ncclComm* comm) {
  const std::lock_guard lock(states().mutex);
  const auto found = states().by_comm.find(comm);
  return found == states().by_comm.end() ? nullptr : found->second;
}

// Returns the state of a communicator, or makes one for the rules of the environment. No lock is held
// meanwhile: other ranks may be threads of this process.
std::shared_ptr<CommState> state_of(ncclComm* comm, void* stream = nullptr) {
  if (comm == nullptr) throw Error(Status::invalid_argument, "comm is NULL");
  std::shared_ptr<CommState> state = find_state(comm);
  if (state != nullptr && state->matches(comm)) return state;
  if (stream != nullptr)  // the legacy stream is never captured
    expect_no_capture(gpu::device_services("the memory of a call of NCCL"), stream,
                      "the first call on a communicator waits for the ranks");
  state = std::make_shared<CommState>(comm);
  state->agree(nullptr);
  set_state(comm, state);
  return state;
}

int serve(const NcclCall& call) noexcept {
  return guard([&] { state_of(call.comm, call.stream)->serve(call); });
}

int serve_with_residual(const NcclCall& call) noexcept {
  return guard([&] {
    check_residual(call);
    state_of(call.comm, call.stream)->serve(call);
  });
}

// ---- Messages and groups

thread_local int group_depth = 0;
thread_local std::vector<NcclMessage> group_messages;  // of the group that this thread has open

// Serves the messages of a group: those on one communicator and stream together, in their order.
void serve_group() {
  std::vector<NcclMessage> all = std::exchange(group_messages, {});
  while (!all.empty()) {
    const NcclMessage first = all.front();
    const auto alike = [&](const NcclMessage& other) {
      return other.comm == first.comm && other.stream == first.stream;
    };
    std::vector<NcclMessage> together;
    for (const NcclMessage& message : all)
      if (alike(message)) together.push_back(message);
    std::erase_if(all, alike);
    if (const std::shared_ptr<CommState> state = find_state(first.comm))
      state->serve(together);
    else
      run_plain(library(), together);
  }
}

int add_message(const NcclMessage& message, const void* buffer, const char* argument) noexcept {
  return guard([&] {
    if (message.comm == nullptr) throw Error(Status::invalid_argument, "comm is NULL");
    if (dtype_of_nccl(message.datatype) == DType{})
      throw Error(Status::invalid_type, "datatype is none that Taut moves: call ncclSend and ncclRecv");
    if (!on_device(buffer))
      throw Error(Status::invalid_argument, std::string(argument) + " is not memory of a GPU");
    group_messages.push_back(message);
    if (group_depth == 0) serve_group();
  });
}

}  // namespace
}  // namespace taut::nccl

using namespace taut;
using namespace taut::nccl;

const char* TAUT_Nccl_last_error() { return last_error; }

int TAUT_Nccl_comm_set_policy(ncclComm* comm, const char* policy) {
  return guard([&] {
    if (comm == nullptr) throw Error(Status::invalid_argument, "comm is NULL");
    const std::string text = policy != nullptr ? policy : "";
    const auto state = std::make_shared<CommState>(comm);
    state->agree(policy != nullptr ? &text : nullptr);
    if (const auto before = find_state(comm); before != nullptr && before->matches(comm))
      state->continue_after(before);
    set_state(comm, state);
  });
}

int TAUT_Nccl_comm_set_capacity(ncclComm* comm, double ratio) {
  return guard([&] { state_of(comm)->set_capacity(ratio); });
}

int TAUT_Nccl_comm_settle(ncclComm* comm, size_t* repeated, void* stream) {
  return guard([&] {
    const std::size_t blocks = state_of(comm, stream)->settle(stream);
    if (repeated != nullptr) *repeated = blocks;
  });
}

int TAUT_Nccl_comm_get_stats(ncclComm* comm, TAUT_Nccl_stats* stats) {
  return guard([&] {
    if (comm == nullptr || stats == nullptr || stats->struct_size < sizeof stats->struct_size)
      throw Error(Status::invalid_argument, "comm or stats is NULL, or stats->struct_size is not set");
    TAUT_Nccl_stats all{};
    all.struct_size = std::min(stats->struct_size, sizeof all);
    if (const std::shared_ptr<CommState> state = find_state(comm)) {
      const Statistics sum = state->calls().total();
      all.calls = sum.calls;
      all.compressed_calls = sum.compressed_calls;
      all.value_bytes = sum.value_bytes;
      all.frame_bytes = sum.frame_bytes;
      all.capacity_calls = state->capacity_calls();
    }
    std::memcpy(stats, &all, all.struct_size);
  });
}

int TAUT_Nccl_comm_release(ncclComm* comm) {
  return guard([&] {
    const std::shared_ptr<CommState> state = find_state(comm);
    {
      const std::lock_guard lock(states().mutex);
      states().by_comm.erase(comm);
    }
    if (state == nullptr) return;
    state->end_nodes_after_error();
    state->expect_no_late_failure();
  });
}

int TAUT_Nccl_AllReduce(const void* sendbuff, void* recvbuff, size_t count, int datatype, int op,
                        ncclComm* comm, void* stream) {
  return serve({Collective::allreduce, sendbuff, recvbuff, count, datatype, op, 0, comm, stream});
}

int TAUT_Nccl_ReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, int datatype, int op,
                            ncclComm* comm, void* stream) {
  return serve({Collective::reduce_scatter, sendbuff, recvbuff, recvcount, datatype, op, 0, comm, stream});
}

int TAUT_Nccl_AllGather(const void* sendbuff, void* recvbuff, size_t sendcount, int datatype, ncclComm* comm,
                        void* stream) {
  return serve({Collective::allgather, sendbuff, recvbuff, sendcount, datatype, 0, 0, comm, stream});
}

int TAUT_Nccl_Broadcast(const void* sendbuff, void* recvbuff, size_t count, int datatype, int root,
                        ncclComm* comm, void* stream) {
  return serve({Collective::bcast, sendbuff, recvbuff, count, datatype, 0, root, comm, stream});
}

int TAUT_Nccl_Reduce(const void* sendbuff, void* recvbuff, size_t count, int datatype, int op, int root,
                     ncclComm* comm, void* stream) {
  return serve({Collective::reduce, sendbuff, recvbuff, count, datatype, op, root, comm, stream});
}

int TAUT_Nccl_AlltoAll(const void* sendbuff, void* recvbuff, size_t count, int datatype, ncclComm* comm,
                       void* stream) {
  return serve({Collective::alltoall, sendbuff, recvbuff, count, datatype, 0, 0, comm, stream});
}

int TAUT_Nccl_AllReduce_with_residual(const void* sendbuff, void* recvbuff, size_t count, int datatype,
                                      int op, void* residual, ncclComm* comm, void* stream) {
  return serve_with_residual(
      {Collective::allreduce, sendbuff, recvbuff, count, datatype, op, 0, comm, stream, residual});
}

int TAUT_Nccl_ReduceScatter_with_residual(const void* sendbuff, void* recvbuff, size_t recvcount,
                                          int datatype, int op, void* residual, ncclComm* comm,
                                          void* stream) {
  return serve_with_residual(
      {Collective::reduce_scatter, sendbuff, recvbuff, recvcount, datatype, op, 0, comm, stream, residual});
}

int TAUT_Nccl_Send(const void* sendbuff, size_t count, int datatype, int peer, ncclComm* comm, void* stream) {
  return add_message({sendbuff, nullptr, count, datatype, peer, comm, stream}, sendbuff, "sendbuff");
}

int TAUT_Nccl_Recv(void* recvbuff, size_t count, int datatype, int peer, ncclComm* comm, void* stream) {
  return add_message({nullptr, recvbuff, count, datatype, peer, comm, stream}, recvbuff, "recvbuff");
}

int TAUT_Nccl_GroupStart() {
  ++group_depth;
  return 0;
}

int TAUT_Nccl_GroupEnd() {
  return guard([] {
    if (group_depth == 0) throw Error(Status::invalid_argument, "TAUT_Nccl_GroupEnd without a start");
    if (--group_depth == 0) serve_group();
  });
}

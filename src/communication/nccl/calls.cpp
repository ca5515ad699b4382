// The C functions of taut_nccl.h, and the states of communicators.
#include <taut/taut_nccl.h>

#include <cstring>
#include <map>
#include <mutex>

#include "communication/nccl/calls.hpp"

namespace taut::nccl {
namespace {

// States by communicator. They outlive static destructors: the program may still use a communicator then.
struct States {
  std::mutex mutex;
  std::map<ncclComm*, std::shared_ptr<CommState>> all;
};
States& states() {
  static auto* const one = new States;
  return *one;
}

void put(ncclComm* comm, std::shared_ptr<CommState> state) {
  const std::lock_guard lock(states().mutex);
  std::swap(states().all[comm], state);  // the old state is freed after the lock
}

// Returns the state of a communicator, or makes one for the rules of the environment. No lock is held
// meanwhile: other ranks may be threads of this process.
std::shared_ptr<CommState> state_of(ncclComm* comm) {
  if (comm == nullptr) throw Error(Status::invalid_argument, "comm is NULL");
  std::shared_ptr<CommState> state = find_state(comm);
  if (state != nullptr && state->is_of(comm)) return state;
  state = std::make_shared<CommState>(comm);
  state->agree(nullptr);
  put(comm, state);
  return state;
}

int serve(const NcclCall& call) noexcept {
  return guard([&] { state_of(call.comm)->serve(call); });
}

}  // namespace

std::shared_ptr<CommState> find_state(ncclComm* comm) {
  const std::lock_guard lock(states().mutex);
  const auto found = states().all.find(comm);
  return found == states().all.end() ? nullptr : found->second;
}

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
    put(comm, state);
  });
}

int TAUT_Nccl_comm_set_capacity(ncclComm* comm, double ratio) {
  return guard([&] { state_of(comm)->set_capacity(ratio); });
}

int TAUT_Nccl_comm_settle(ncclComm* comm, size_t* repeated, void* stream) {
  return guard([&] {
    const std::size_t blocks = state_of(comm)->settle(stream);
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
    std::shared_ptr<CommState> state = find_state(comm);
    const std::lock_guard lock(states().mutex);
    states().all.erase(comm);
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

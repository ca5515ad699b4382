// The functions that libtaut_preload.so calls in place of NCCL's: taut_dropin_<NCCL's name>.
#include <exception>
#include <string>

#include "communication/nccl/dropin/communicators.hpp"
#include "communication/nccl/dropin/entry.hpp"
#include "communication/nccl/dropin/program_call.hpp"

using namespace taut;
using namespace taut::nccl;
using namespace taut::nccl::dropin;

namespace {

// Returns the result of action(); NCCL's result for an exception.
template <class Action>
int guarded(const Action& action) noexcept {
  try {
    return action();
  } catch (const std::exception& error) {
    return report_failure(error.what());
  } catch (...) {
    return report_failure(describe(Status::internal));
  }
}

// Returns NCCL's own function of a name. Throws Error if this NCCL has none.
template <class Function>
Function nccl_function(const char* name) {
  void* const function = find_function(name);
  if (function == nullptr)
    throw Error(Status::invalid_argument,
                std::string("this NCCL has no ") + name + ": a later version has it");
  return reinterpret_cast<Function>(function);
}

int issue_collective(Function function, const NcclCall& call) noexcept {
  return guarded([&] { return issue({function, call}); });
}

// Completes the calls of a communicator.
void drain(ncclComm* comm) {
  if (const auto calls = find_calls(comm)) calls->drain();
}

// Beginning of ncclConfig_t, which later versions of NCCL only extend.
struct Config {
  std::size_t size;
  unsigned magic, version;
  int blocking;
};

// Returns true if a configuration of NCCL asks for a communicator whose calls may return ncclInProgress.
bool asks_nonblocking(const void* config) noexcept {
  constexpr unsigned magic = 0xcafebeef;
  const auto* const known = static_cast<const Config*>(config);
  return known != nullptr && known->magic == magic && known->blocking == 0;
}

// Returns this rank of `whole`, for the message that NCCL serves a part of it; -1 if that was said before.
int rank_for_message(ncclComm* whole) {
  int rank = -1;
  if (!is_nonblocking(whole)) library().CommUserRank(whole, &rank);
  return rank;
}

// Creates a communicator by create(), and starts to serve its calls unless it is nonblocking. NCCL's result,
// which may differ between ranks, does not decide that alone: all ranks have to decide alike.
template <class Create>
int create_comm(ncclComm** comm, bool nonblocking, int rank, int ranks, const Create& create) noexcept {
  return guarded([&] {
    const int result = create();
    if (result != success && result != in_progress) return result;
    if (!nonblocking && result == success) return note_created(comm, 1);
    leave_nonblocking(*comm, rank, ranks);
    return result;
  });
}

}  // namespace

// ---- Calls that move data

int taut_dropin_ncclAllReduce(const void* from, void* to, size_t count, int type, int op, ncclComm* comm,
                              void* stream) {
  return issue_collective(Function::all_reduce,
                          {Collective::allreduce, from, to, count, type, op, 0, comm, stream});
}

int taut_dropin_ncclReduceScatter(const void* from, void* to, size_t count, int type, int op, ncclComm* comm,
                                  void* stream) {
  return issue_collective(Function::reduce_scatter,
                          {Collective::reduce_scatter, from, to, count, type, op, 0, comm, stream});
}

int taut_dropin_ncclAllGather(const void* from, void* to, size_t count, int type, ncclComm* comm,
                              void* stream) {
  return issue_collective(Function::all_gather,
                          {Collective::allgather, from, to, count, type, 0, 0, comm, stream});
}

int taut_dropin_ncclBroadcast(const void* from, void* to, size_t count, int type, int root, ncclComm* comm,
                              void* stream) {
  return issue_collective(Function::broadcast,
                          {Collective::bcast, from, to, count, type, 0, root, comm, stream});
}

int taut_dropin_ncclBcast(void* buffer, size_t count, int type, int root, ncclComm* comm, void* stream) {
  return issue_collective(Function::bcast,
                          {Collective::bcast, buffer, buffer, count, type, 0, root, comm, stream});
}

int taut_dropin_ncclReduce(const void* from, void* to, size_t count, int type, int op, int root,
                           ncclComm* comm, void* stream) {
  return issue_collective(Function::reduce,
                          {Collective::reduce, from, to, count, type, op, root, comm, stream});
}

int taut_dropin_ncclAlltoAll(const void* from, void* to, size_t count, int type, ncclComm* comm,
                             void* stream) {
  return issue_collective(Function::all_to_all,
                          {Collective::alltoall, from, to, count, type, 0, 0, comm, stream});
}

int taut_dropin_ncclGather(const void* from, void* to, size_t count, int type, int root, ncclComm* comm,
                           void* stream) {
  return issue_collective(Function::gather,
                          {Collective::gather, from, to, count, type, 0, root, comm, stream});
}

int taut_dropin_ncclScatter(const void* from, void* to, size_t count, int type, int root, ncclComm* comm,
                            void* stream) {
  return issue_collective(Function::scatter,
                          {Collective::scatter, from, to, count, type, 0, root, comm, stream});
}

int taut_dropin_ncclSend(const void* from, size_t count, int type, int peer, ncclComm* comm, void* stream) {
  return guarded([&] {
    return issue({Function::send, Message{true, const_cast<void*>(from), count, type, peer, comm, stream}});
  });
}

int taut_dropin_ncclRecv(void* to, size_t count, int type, int peer, ncclComm* comm, void* stream) {
  return guarded([&] {
    return issue({Function::recv, Message{false, to, count, type, peer, comm, stream}});
  });
}

int taut_dropin_ncclRedOpDestroy(int op, ncclComm* comm) {
  return guarded([&] { return issue({Function::destroy_operator, DestroyOperator{op, comm}}); });
}

int taut_dropin_ncclGroupStart() { return guarded(start_group); }
int taut_dropin_ncclGroupEnd() { return guarded(end_group); }
int taut_dropin_ncclGroupSimulateEnd(void* estimate) {
  return guarded([&] {
    return simulate_group(nccl_function<decltype(&taut_dropin_ncclGroupSimulateEnd)>("ncclGroupSimulateEnd"),
                          estimate);
  });
}

// ---- Communicators

int taut_dropin_ncclCommInitRank(ncclComm** comm, int ranks, taut_nccl_id id, int rank) {
  return create_comm(comm, false, rank, ranks, [&] {
    return nccl_function<decltype(&taut_dropin_ncclCommInitRank)>("ncclCommInitRank")(comm, ranks, id, rank);
  });
}

int taut_dropin_ncclCommInitRankConfig(ncclComm** comm, int ranks, taut_nccl_id id, int rank, void* config) {
  return create_comm(comm, asks_nonblocking(config), rank, ranks, [&] {
    return nccl_function<decltype(&taut_dropin_ncclCommInitRankConfig)>("ncclCommInitRankConfig")(
        comm, ranks, id, rank, config);
  });
}

int taut_dropin_ncclCommInitRankScalable(ncclComm** comm, int ranks, int rank, int ids, taut_nccl_id* id,
                                         void* config) {
  return create_comm(comm, asks_nonblocking(config), rank, ranks, [&] {
    return nccl_function<decltype(&taut_dropin_ncclCommInitRankScalable)>("ncclCommInitRankScalable")(
        comm, ranks, rank, ids, id, config);
  });
}

int taut_dropin_ncclCommInitAll(ncclComm** comms, int n, const int* devices) {
  return guarded([&] {
    const int result =
        nccl_function<decltype(&taut_dropin_ncclCommInitAll)>("ncclCommInitAll")(comms, n, devices);
    return result == success ? note_created(comms, n) : result;
  });
}

int taut_dropin_ncclCommSplit(ncclComm* comm, int color, int key, ncclComm** part, void* config) {
  return guarded([&] {
    const bool nonblocking = asks_nonblocking(config) || is_nonblocking(comm);
    return create_comm(part, nonblocking, rank_for_message(comm), 0, [&] {
      drain(comm);
      return nccl_function<decltype(&taut_dropin_ncclCommSplit)>("ncclCommSplit")(comm, color, key, part,
                                                                                  config);
    });
  });
}

// With the flag NCCL_SHRINK_ABORT NCCL ends the calls that are in progress, whose other ranks may be gone.
int taut_dropin_ncclCommShrink(ncclComm* comm, int* excluded, int n, ncclComm** rest, void* config,
                               int flags) {
  constexpr int aborts = 1;
  return guarded([&] {
    const auto shrink = nccl_function<decltype(&taut_dropin_ncclCommShrink)>("ncclCommShrink");
    const bool nonblocking = asks_nonblocking(config) || is_nonblocking(comm);
    return create_comm(rest, nonblocking, rank_for_message(comm), 0, [&] {
      const auto shrunk = [&](ncclComm* whole) { return shrink(whole, excluded, n, rest, config, flags); };
      if ((flags & aborts) != 0 && !is_nonblocking(comm)) return abandon(comm, shrunk);
      drain(comm);
      return shrunk(comm);
    });
  });
}

// `comm` is null on the ranks that join.
int taut_dropin_ncclCommGrow(ncclComm* comm, int ranks, const taut_nccl_id* id, int rank, ncclComm** grown,
                             void* config) {
  return guarded([&] {
    const auto grow = nccl_function<decltype(&taut_dropin_ncclCommGrow)>("ncclCommGrow");
    const bool joins = comm == nullptr;
    const bool nonblocking = asks_nonblocking(config) || is_nonblocking(comm);
    return create_comm(grown, nonblocking, joins ? rank : rank_for_message(comm), ranks, [&] {
      drain(comm);
      return grow(comm, ranks, id, rank, grown, config);
    });
  });
}

int taut_dropin_ncclCommSuspend(ncclComm* comm, int flags) {
  return guarded([&] {
    drain(comm);
    return nccl_function<decltype(&taut_dropin_ncclCommSuspend)>("ncclCommSuspend")(comm, flags);
  });
}

// Ends the calls of the communicator: no rank may make calls on it later.
int taut_dropin_ncclCommRevoke(ncclComm* comm, int flags) {
  return guarded([&] {
    const auto revoke = nccl_function<decltype(&taut_dropin_ncclCommRevoke)>("ncclCommRevoke");
    const auto revoked = [&](ncclComm* whole) { return revoke(whole, flags); };
    return is_nonblocking(comm) ? revoked(comm) : abandon(comm, revoked);
  });
}

int taut_dropin_ncclCommFinalize(ncclComm* comm) {
  return guarded([&] {
    drain(comm);
    return nccl_function<decltype(&taut_dropin_ncclCommFinalize)>("ncclCommFinalize")(comm);
  });
}

int taut_dropin_ncclCommDestroy(ncclComm* comm) {
  return guarded([&] {
    release(comm);
    return nccl_function<decltype(&taut_dropin_ncclCommDestroy)>("ncclCommDestroy")(comm);
  });
}

int taut_dropin_ncclCommAbort(ncclComm* comm) {
  return guarded(
      [&] { return abandon(comm, nccl_function<decltype(&taut_dropin_ncclCommAbort)>("ncclCommAbort")); });
}

int taut_dropin_ncclCommGetAsyncError(ncclComm* comm, int* error) {
  return guarded([&] {
    const int result = library().CommGetAsyncError(comm, error);
    const auto calls = result == success && *error == success ? find_calls(comm) : nullptr;
    if (calls != nullptr && calls->failed()) *error = internal_error;
    return result;
  });
}

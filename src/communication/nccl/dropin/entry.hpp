// The functions of libtaut_nccl that libtaut_preload.so calls in place of NCCL's functions, with the same
// arguments. Results are ncclResult_t.
#pragma once

#include <cstddef>

#include "communication/nccl/library.hpp"

// ncclUniqueId under another name. It is passed by value.
struct taut_nccl_id {
  char internal[128];
};

#pragma GCC visibility push(default)
extern "C" {

taut::nccl::ReducingCall taut_dropin_ncclAllReduce, taut_dropin_ncclReduceScatter;
taut::nccl::UnrootedCall taut_dropin_ncclAllGather, taut_dropin_ncclAlltoAll;
taut::nccl::RootedCall taut_dropin_ncclBroadcast, taut_dropin_ncclGather, taut_dropin_ncclScatter;
int taut_dropin_ncclBcast(void* buffer, size_t count, int type, int root, ncclComm* comm, void* stream);
int taut_dropin_ncclReduce(const void* from, void* to, size_t count, int type, int op, int root,
                           ncclComm* comm, void* stream);
int taut_dropin_ncclSend(const void* from, size_t count, int type, int peer, ncclComm* comm, void* stream);
int taut_dropin_ncclRecv(void* to, size_t count, int type, int peer, ncclComm* comm, void* stream);
int taut_dropin_ncclRedOpDestroy(int op, ncclComm* comm);
int taut_dropin_ncclGroupStart();
int taut_dropin_ncclGroupEnd();
int taut_dropin_ncclGroupSimulateEnd(void* estimate);
int taut_dropin_ncclCommInitRank(ncclComm** comm, int ranks, taut_nccl_id id, int rank);
int taut_dropin_ncclCommInitRankConfig(ncclComm** comm, int ranks, taut_nccl_id id, int rank, void* config);
int taut_dropin_ncclCommInitRankScalable(ncclComm** comm, int ranks, int rank, int ids, taut_nccl_id* id,
                                         void* config);
int taut_dropin_ncclCommInitAll(ncclComm** comms, int n, const int* devices);
int taut_dropin_ncclCommSplit(ncclComm* comm, int color, int key, ncclComm** part, void* config);
int taut_dropin_ncclCommShrink(ncclComm* comm, int* excluded, int n, ncclComm** rest, void* config,
                               int flags);
int taut_dropin_ncclCommGrow(ncclComm* comm, int ranks, const taut_nccl_id* id, int rank, ncclComm** grown,
                             void* config);
int taut_dropin_ncclCommSuspend(ncclComm* comm, int flags);
int taut_dropin_ncclCommRevoke(ncclComm* comm, int flags);
int taut_dropin_ncclCommFinalize(ncclComm* comm);
int taut_dropin_ncclCommDestroy(ncclComm* comm);
int taut_dropin_ncclCommAbort(ncclComm* comm);
int taut_dropin_ncclCommGetAsyncError(ncclComm* comm, int* error);

}  // extern "C"
#pragma GCC visibility pop

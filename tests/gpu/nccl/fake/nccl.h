/* The part of NCCL's interface that Taut and its tests call, for ranks that are threads of one process and
   have simulated GPUs (gpu/kernels/on_host). Names and numbers are those of NCCL's documentation.

   As NCCL does, calls only enqueue work, and the work of a group runs as one kernel: it occupies its stream
   from its start until all its messages have arrived. A message moves once the kernels of sender and receiver
   have both started. Kernels of one communicator run one after the other, on whatever streams they are.

   NCCL hangs or moves wrong data when a program breaks its rules. Here the program gets a report (control.h),
   and the communicator an asynchronous error. */
#ifndef TAUT_TESTS_NCCL_H
#define TAUT_TESTS_NCCL_H

#include <cuda_runtime.h>
#include <stddef.h>

#pragma GCC visibility push(default)
extern "C" {

typedef struct ncclComm* ncclComm_t;
enum { NCCL_UNIQUE_ID_BYTES = 128, NCCL_SPLIT_NOCOLOR = -1 };
typedef struct {
  char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7
} ncclResult_t;
/* Beginning of NCCL's type. */
typedef struct {
  size_t size;
  unsigned magic, version;
  int blocking;
} ncclConfig_t;
enum { NCCL_CONFIG_UNDEF_INT = -2147483647 - 1 };
static inline ncclConfig_t fake_config(int blocking) {
  const ncclConfig_t config = {sizeof(ncclConfig_t), 0xcafebeef, 22809, blocking};
  return config;
}
/* Beginning of NCCL's type, in which NCCL expects the first three members as fake_estimate() sets them. */
typedef struct {
  size_t size;
  unsigned magic, version;
  float estimatedTime; /* here the number of calls in the group */
} ncclSimInfo_t;
static inline ncclSimInfo_t fake_estimate(void) {
  const ncclSimInfo_t estimate = {sizeof(ncclSimInfo_t), 0x74685283, 22809, -1};
  return estimate;
}
enum { NCCL_SHRINK_DEFAULT = 0, NCCL_SHRINK_ABORT = 1, NCCL_SUSPEND_MEM = 1 };
typedef enum { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4 } ncclRedOp_t;
typedef enum {
  ncclInt8 = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclFloat32 = 7,
  ncclFloat64 = 8,
  ncclBfloat16 = 9
} ncclDataType_t;

/* communicators.cpp */
ncclResult_t ncclGetVersion(int* version);
const char* ncclGetErrorString(ncclResult_t result);
ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank);
/* The member `blocking` of `config` alone matters. A communicator with blocking = 0 is in progress until all
   ranks have joined, and for some queries after each call. */
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config);
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int devices, const int* list);
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* part, ncclConfig_t* config);
ncclResult_t ncclCommShrink(ncclComm_t comm, int* excluded, int n, ncclComm_t* rest, ncclConfig_t* config,
                            int flags);
/* `comm` is NULL on ranks that join. All ranks pass `id`. */
ncclResult_t ncclCommGrow(ncclComm_t comm, int ranks, const ncclUniqueId* id, int rank, ncclComm_t* grown,
                          ncclConfig_t* config);
ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags);
ncclResult_t ncclCommResume(ncclComm_t comm);
ncclResult_t ncclCommRevoke(ncclComm_t comm, int flags);
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error);
ncclResult_t ncclCommCount(ncclComm_t comm, int* ranks);
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank);
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device);

/* operators.cpp. `scalar`: a value of that type in memory of the host. */
typedef enum { ncclScalarDevice = 0, ncclScalarHostImmediate = 1 } ncclScalarResidence_t;
ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm);
ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm);

/* calls.cpp */
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);
ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* estimate);
ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduceScatter(const void* from, void* to, size_t recvcount, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllGather(const void* from, void* to, size_t sendcount, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream);
ncclResult_t ncclAlltoAll(const void* from, void* to, size_t count, ncclDataType_t type, ncclComm_t comm,
                          cudaStream_t stream);
ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                        int root, ncclComm_t comm, cudaStream_t stream);
}
#pragma GCC visibility pop
#endif

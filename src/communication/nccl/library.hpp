// The functions of NCCL in this process. Taut neither includes nor links NCCL: it finds them at run time.
#pragma once

#include <cstddef>

#include "compressor/values/reduction.hpp"

struct ncclComm;

namespace taut::nccl {

// Values of ncclResult_t, ncclDataType_t and ncclRedOp_t, which NCCL never changes.
inline constexpr int success = 0, internal_error = 3, invalid_argument = 4, in_progress = 7;
inline constexpr int uint8 = 1;
enum Op : int { op_sum = 0, op_prod = 1, op_max = 2, op_min = 3, op_avg = 4 };

// Types of NCCL's functions on values. Streams are cudaStream_t; all results ncclResult_t.
using ReducingCall = int(const void* from, void* to, std::size_t count, int type, int op, ncclComm* comm,
                         void* stream);
using RootedCall = int(const void* from, void* to, std::size_t count, int type, int root, ncclComm* comm,
                       void* stream);
using UnrootedCall = int(const void* from, void* to, std::size_t count, int type, ncclComm* comm,
                         void* stream);

// Functions of NCCL, named without their prefix. They belong to NCCL's profiling interface (pncclAllReduce
// ...), so that a preloaded library that replaces ncclAllReduce does not see the calls of Taut.
struct Library {
  const char* (*GetErrorString)(int result);
  int (*CommCount)(const ncclComm* comm, int* ranks);
  int (*CommUserRank)(const ncclComm* comm, int* rank);
  int (*CommCuDevice)(const ncclComm* comm, int* device);
  int (*CommGetAsyncError)(ncclComm* comm, int* error);
  int (*GroupStart)();
  int (*GroupEnd)();
  int (*Send)(const void* from, std::size_t count, int type, int peer, ncclComm* comm, void* stream);
  int (*Recv)(void* to, std::size_t count, int type, int peer, ncclComm* comm, void* stream);
  ReducingCall *AllReduce, *ReduceScatter;
  UnrootedCall* AllGather;
  RootedCall* Broadcast;
  int (*Reduce)(const void* from, void* to, std::size_t count, int type, int op, int root, ncclComm* comm,
                void* stream);
  // Functions of recent versions; null in older ones.
  UnrootedCall* AlltoAll;
  RootedCall *Gather, *Scatter;
  int (*CommSplit)(ncclComm* comm, int color, int key, ncclComm** part, void* config);
  int (*CommDestroy)(ncclComm* comm);
  int (*CommAbort)(ncclComm* comm);
};

// Returns NCCL, or RCCL: the library that the process has loaded, otherwise libnccl.so.2 or librccl.so.1
// where the loader finds it. Throws Error(invalid_argument) if there is none.
const Library& library();

// Returns NCCL's own function of that name, such as "ncclCommSplit"; null if this NCCL has none. Throws
// Error(invalid_argument) if there is no NCCL.
void* find_function(const char* symbol);

// Throws Error(transport_failed) unless `result`, which the function `call` returned, is success.
void check(int result, const char* call);

// Returns the type of an ncclDataType_t; DType{} for numbers that are no type of Taut.
DType dtype_of_nccl(int type) noexcept;
// Returns the ncclDataType_t of a type that NCCL has, and the ncclRedOp_t of an operator.
int nccl_type_of(DType type) noexcept;
int nccl_op_of(Reduction op) noexcept;

}  // namespace taut::nccl

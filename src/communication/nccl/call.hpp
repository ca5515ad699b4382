// A collective call of NCCL: its arguments, its description as a call of Taut, and its service by NCCL alone.
#pragma once

#include <optional>

#include "communication/comm/collective_call.hpp"
#include "communication/nccl/library.hpp"
#include "compressor/gpu/device_services.hpp"

namespace taut::nccl {

// Arguments of a collective call, under NCCL's names.
struct NcclCall {
  Collective collective;
  const void* sendbuff;
  void* recvbuff;
  std::size_t count;  // of all values, or of those of one block, as in the call
  int datatype;
  int op;
  int root;
  ncclComm* comm;
  void* stream;
  void* residual = nullptr;  // of a sum with error feedback: what earlier calls have left out
};

// Returns true if `count` is that of one block, and the call has a block for each rank, for the collectives
// that Taut serves. Gather and scatter, which are left to NCCL, also count one block.
constexpr bool counts_one_block(Collective collective) noexcept {
  return collective == Collective::reduce_scatter || collective == Collective::allgather ||
         collective == Collective::alltoall;
}

// Throws Error that names the argument if the call cannot be served by Taut on this rank, whatever the others
// pass: memory that is not a GPU's, a root that is no rank.
void check_arguments(const NcclCall& call, int rank, int ranks);

// Returns the type of the residual of values of a real type.
constexpr DType residual_type(DType type) noexcept { return type == DType::f64 ? DType::f64 : DType::f32; }

// Throws Error that names the argument if the call cannot have a residual.
void check_residual(const NcclCall& call);

// Returns the call as Taut serves it; nothing for types and operators that Taut leaves to NCCL.
std::optional<CollectiveCall> describe(const NcclCall& call, int rank, int ranks);

// Returns true if the stream is captured in a graph. Throws Error.
bool is_captured(const gpu::DeviceServices& services, void* stream);
// Throws Error if it is. `what` begins the text: what a graph cannot hold.
void expect_no_capture(const gpu::DeviceServices& services, void* stream, const char* what);

// Enqueues the call as NCCL serves it, and returns NCCL's result.
int call_nccl(const Library& nccl, const NcclCall& call, int ranks);

// Enqueues the call as NCCL serves it. Throws Error.
void run_plain(const Library& nccl, const NcclCall& call, int ranks);

}  // namespace taut::nccl

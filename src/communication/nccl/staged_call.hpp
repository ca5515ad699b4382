// StagedCall is a call on copies of buffers that kernels cannot access, in memory of the current device.
#pragma once

#include "communication/gpu/memory.hpp"
#include "communication/nccl/call.hpp"
#include "communication/nccl/transport.hpp"

namespace taut::nccl {

// Lets a rank whose buffers are in memory of the host, or not aligned to their type, take part in a call in
// slots. Buffers that overlap, as those of a call in place, are copied together. The object must live until
// the stream has done the work (gpu::free_after).
class StagedCall {
 public:
  // Enqueues copies of the operands to the device. Throws Error.
  StagedCall(const gpu::DeviceServices& services, const NcclCall& call, const CollectiveCall& described);

  // Return the call with the copies as operands.
  const NcclCall& call() const noexcept { return staged_; }
  const CollectiveCall& described() const noexcept { return described_; }

  // Enqueues the copy of the results to the buffers of the program. Throws Error.
  void fetch() const;

 private:
  const gpu::DeviceServices& services_;
  gpu::MemoryBlock send_copy_, recv_copy_;  // buffers that overlap: both are in the first
  void* recvbuff_;                          // of the program
  NcclCall staged_;
  CollectiveCall described_;
};

}  // namespace taut::nccl

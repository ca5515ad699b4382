// Detection of GPU memory, which the host cannot read.
#pragma once

namespace taut {

// Returns true if CUDA's driver reports the address as device memory. A process that has not loaded the
// driver has no such memory. Memory that host and GPU share (cudaMallocManaged, cudaMallocHost) counts as
// host memory.
bool on_device(const void* address) noexcept;

}  // namespace taut

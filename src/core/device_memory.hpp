// Memory of a GPU, which the host cannot read.
#pragma once

namespace taut {

// Whether CUDA's driver says so of this address. A process that has not loaded the driver has no such memory.
// Memory that host and GPU share (cudaMallocManaged, cudaMallocHost) is the host's here.
bool on_device(const void* address) noexcept;

}  // namespace taut

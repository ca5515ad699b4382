// Kernels on a simulated GPU.
#pragma once

#include <cuda_runtime.h>

#include <span>

#include "gpu/kernels/shim.hpp"

namespace taut::on_host {

struct KernelShape {
  const void* kernel;  // identity of the kernel
  unsigned threads;
  std::size_t shared_bytes;
};

// Loads a kernel, as its first launch does otherwise. A launch during a capture fails unless the kernel has
// been loaded, because loading may do what a capture forbids ("Lazy loading" of the CUDA programming guide).
cudaError_t load(const KernelShape& shape);

// Returns the number of loaded kernels.
std::size_t loaded_kernels();

// Forgets all loaded kernels, as if the process had just begun.
void unload_kernels();

// Enqueues a kernel of `blocks` blocks. Of the memory of devices, that of the stream's device is accessible
// to it which an address in its `arguments` points into.
cudaError_t launch(const KernelShape& shape, unsigned blocks, shim::Gpu::Body body,
                   std::span<const std::byte> arguments, cudaStream_t stream);

}  // namespace taut::on_host

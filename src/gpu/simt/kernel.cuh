// Launches kernels on CUDA's threads.
#pragma once

#include "gpu/simt/simt.hpp"

namespace taut::cuda {

template <class Kernel>
__global__ void __launch_bounds__(Kernel::shape.threads, Kernel::shape.on_multiprocessor)
    entry(const __grid_constant__ typename Kernel::Job job) {
  __shared__ typename Kernel::Shared shared;
  Kernel::run(CudaThread{}, shared, job);
}

// Launches a kernel. Returns the error of this launch: cudaGetLastError would return earlier errors too.
template <class Kernel>
cudaError_t launch(unsigned blocks, const typename Kernel::Job& job, cudaStream_t stream) {
  void* arguments[] = {const_cast<typename Kernel::Job*>(&job)};
  return cudaLaunchKernel(entry<Kernel>, dim3(blocks), dim3(Kernel::shape.threads), arguments, 0, stream);
}

// Loads a kernel on the current device.
template <class Kernel>
cudaError_t load() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, entry<Kernel>);
}

}  // namespace taut::cuda

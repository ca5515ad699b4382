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

template <class Kernel>
void launch(unsigned blocks, const typename Kernel::Job& job, cudaStream_t stream) {
  entry<Kernel><<<blocks, Kernel::shape.threads, 0, stream>>>(job);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) throw error;
}

}  // namespace taut::cuda

// Kernels for CUDA: their texts run on its threads.
#pragma once

#include "core/cuda/simt.hpp"

namespace taut::cuda {

template <class Kernel>
__global__ void __launch_bounds__(Kernel::shape.threads, Kernel::shape.on_multiprocessor)
    entry(const __grid_constant__ typename Kernel::Job job) {
  __shared__ typename Kernel::Shared shared;
  Kernel::run(CudaThread{}, shared, job);
}

}  // namespace taut::cuda

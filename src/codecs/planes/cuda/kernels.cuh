// The kernels for CUDA: their texts run on its threads.
#pragma once

#include "codecs/planes/cuda/calls.hpp"

namespace taut::planes::cuda {

// At least two blocks of 512 threads on a multiprocessor: up to 64 registers.
template <class Kernel>
__global__ void __launch_bounds__(crew_threads, 2) entry(const __grid_constant__ typename Kernel::Job job) {
  __shared__ typename Kernel::Shared shared;
  Kernel::run(CudaThread{}, shared, job);
}

}  // namespace taut::planes::cuda

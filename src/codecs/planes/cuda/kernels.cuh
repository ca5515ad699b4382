// The kernels for CUDA: their texts run on its threads.
#pragma once

#include "codecs/planes/cuda/calls.hpp"

namespace taut::planes::cuda {

// Blocks of 512 threads on a multiprocessor at least, which gives 64 registers to a thread; 128 where few chunks come.
template <class Kernel>
constexpr int least_blocks = 2;
template <class T>
constexpr int least_blocks<DecodeExactKernel<T>> = 1;

template <class Kernel>
__global__ void __launch_bounds__(crew_threads, least_blocks<Kernel>) entry(const __grid_constant__ typename Kernel::Job job) {
  __shared__ typename Kernel::Shared shared;
  Kernel::run(CudaThread{}, shared, job);
}

template <class Kernel>
void launch(unsigned blocks, const typename Kernel::Job& job, cudaStream_t stream) {
  entry<Kernel><<<blocks, crew_threads, 0, stream>>>(job);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) throw error;
}

}  // namespace taut::planes::cuda

// Replaces the header of this name in src: launches the same kernels on the simulated GPUs.
#pragma once

#include "gpu/kernels/on_host/kernels.hpp"

namespace taut::cuda {

template <class Kernel>
void launch(unsigned blocks, const typename Kernel::Job& job, cudaStream_t stream) {
  static const char identity = 0;
  const on_host::KernelShape shape{&identity, Kernel::shape.threads, sizeof(typename Kernel::Shared)};
  on_host::launch(
      shape, blocks,
      [job](shim::Thread thread, std::byte* shared) {
        Kernel::run(thread, *reinterpret_cast<typename Kernel::Shared*>(shared), job);
      },
      stream);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) throw error;
}

}  // namespace taut::cuda

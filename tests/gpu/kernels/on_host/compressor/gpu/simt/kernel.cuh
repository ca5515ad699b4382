// Replaces the header of this name in src: launches and loads the same kernels on the simulated GPUs.
#pragma once

#include "gpu/kernels/on_host/kernels.hpp"

namespace taut::cuda {

template <class Kernel>
on_host::KernelShape shape_of() {
  static const char identity = 0;
  return {&identity, Kernel::shape.threads, sizeof(typename Kernel::Shared)};
}

template <class Kernel>
cudaError_t launch(unsigned blocks, const typename Kernel::Job& job, cudaStream_t stream) {
  const auto run = [job](shim::Thread thread, std::byte* shared) {
    Kernel::run(thread, *reinterpret_cast<typename Kernel::Shared*>(shared), job);
  };
  return on_host::launch(shape_of<Kernel>(), blocks, run, std::as_bytes(std::span(&job, 1)), stream);
}

template <class Kernel>
cudaError_t load() {
  return on_host::load(shape_of<Kernel>());
}

// Kernels of the simulated GPUs need no loading, but outside captures.
inline cudaError_t load_all(cudaStream_t) { return cudaSuccess; }

}  // namespace taut::cuda

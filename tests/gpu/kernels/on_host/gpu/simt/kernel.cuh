// Replaces the header of this name in src: launches the same kernels on the shim.
#pragma once

#include <cuda_runtime.h>

#include "gpu/kernels/on_host/launch.hpp"

namespace taut::cuda {

template <class Kernel>
void launch(unsigned blocks, const typename Kernel::Job& job, cudaStream_t) {
  shim::launch(blocks, Kernel::shape.threads, sizeof(typename Kernel::Shared),
               [&job](shim::Thread thread, std::byte* shared) {
                 Kernel::run(thread, *reinterpret_cast<typename Kernel::Shared*>(shared), job);
               });
}

}  // namespace taut::cuda

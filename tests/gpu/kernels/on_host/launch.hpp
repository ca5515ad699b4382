// Runs a kernel's blocks on the thread's current device, which the shim simulates. Only that device's memory
// is accessible during the run.
#pragma once

#include "gpu/kernels/shim.hpp"

namespace taut::shim {

void launch(unsigned blocks, unsigned threads, std::size_t shared_bytes, const Gpu::Body& body);

}  // namespace taut::shim

// Runs a kernel's blocks on the thread's device, which the shim plays, and whose memory alone is open
// meanwhile.
#pragma once

#include "gpu/kernels/shim.hpp"

namespace taut::shim {

void launch(unsigned blocks, unsigned threads, std::size_t shared_bytes, const Gpu::Body& body);

}  // namespace taut::shim

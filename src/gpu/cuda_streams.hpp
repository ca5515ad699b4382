// Streams of libtaut_cuda's own.
#pragma once

namespace taut::api {

// Destroys the streams that no device of a communicator uses (cuda_order.cu).
void release_streams() noexcept;

}  // namespace taut::api

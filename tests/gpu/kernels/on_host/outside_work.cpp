#include "gpu/kernels/on_host/outside_work.h"

#include "gpu/kernels/on_host/runtime.hpp"

using namespace taut::on_host;

cudaError_t cudaOutsideWork(cudaStream_t handle, BeginOutside begin) {
  return call(cudaErrorUnknown, [&] {
    StandInStream* const stream = find_stream(handle);
    if (stream == nullptr || stream->device != current_device()) return cudaErrorInvalidResourceHandle;
    if (stream->capture != nullptr) return capture_node(*stream, {}, nullptr, std::move(begin));
    stream->tail = add_steps(stream->device, predecessors(*stream), begin(false));
    return cudaSuccess;
  });
}

#include "gpu/kernels/on_host/outside_work.h"

#include "gpu/kernels/on_host/runtime.hpp"

using namespace taut::on_host;

cudaError_t cudaOutsideWork(cudaStream_t handle, std::function<void()> run, std::function<bool()> condition) {
  return call(cudaErrorUnknown, [&] {
    StandInStream* const stream = find_stream(handle);
    if (stream == nullptr || stream->device != current_device()) return cudaErrorInvalidResourceHandle;
    if (stream->capture != nullptr) return invalidate(*stream->capture, cudaErrorStreamCaptureUnsupported);
    stream->tail = runtime().schedule.add(stream->device, predecessors(*stream), std::move(run));
    stream->tail->condition = std::move(condition);
    return cudaSuccess;
  });
}

#include <cstdint>
#include <cstring>
#include <thread>

#include "gpu/kernels/on_host/runtime.hpp"

using namespace taut::on_host;

namespace taut::on_host {

void let_others_call() {
  runtime().lock.unlock();
  std::this_thread::sleep_for(std::chrono::microseconds(20));
  runtime().lock.lock();
}

}  // namespace taut::on_host

namespace {

cudaError_t wait_for(const std::uint32_t* word, std::uint32_t value, cudaStream_t handle) {
  StandInStream* const stream = find_stream(handle);
  if (stream == nullptr || stream->device != current_device()) return cudaErrorInvalidResourceHandle;
  if (stream->capture != nullptr) return invalidate(*stream->capture, cudaErrorStreamCaptureUnsupported);
  if (stand_in_device_of(word) != stand_in_host) return cudaErrorInvalidValue;
  stream->tail = runtime().schedule.add(stream->device, predecessors(*stream), {});
  stream->tail->condition = [=] {
    return static_cast<std::int32_t>(__atomic_load_n(word, __ATOMIC_ACQUIRE) - value) >= 0;
  };
  return cudaSuccess;
}

// cuStreamWaitValue32 of CUDA's driver, with the numbers of cudaError_t.
int wait_value(cudaStream_t stream, unsigned long long address, std::uint32_t value, unsigned flags) {
  const auto* const word = reinterpret_cast<const std::uint32_t*>(address);
  return call(cudaErrorUnknown,
              [&] { return flags == 0 ? wait_for(word, value, stream) : cudaErrorNotSupported; });
}

}  // namespace

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long, cudaDriverEntryPointQueryResult* answer) {
  const bool known = std::strcmp(symbol, "cuStreamWaitValue32") == 0 && version >= 11070;
  *function = known ? reinterpret_cast<void*>(wait_value) : nullptr;
  if (answer != nullptr) *answer = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

// Copies and memset. Their order with the host depends on the kinds of memory: "API synchronization behavior"
// of the reference.
#include <cstring>
#include <memory>

#include "gpu/kernels/on_host/runtime.hpp"

using namespace taut::on_host;

namespace {

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;

  bool to_device() const { return stand_in_device_of(to) >= 0; }
  bool from_device() const { return stand_in_device_of(from) >= 0; }
  bool to_pageable() const { return stand_in_device_of(to) == stand_in_unknown; }
  bool from_pageable() const { return stand_in_device_of(from) == stand_in_unknown; }
  stand_in_copies kind() const {
    return !to_device() ? stand_in_to_host : from_device() ? stand_in_within : stand_in_to_device;
  }
};

void run(const Copy& copy) { stand_in_copy(copy.to, copy.from, copy.bytes); }

// Copies pageable memory to a staging buffer at once, and lets the stream copy from there.
cudaError_t enqueue_staged(const Copy& copy, cudaStream_t stream) {
  const auto* const from = static_cast<const std::byte*>(copy.from);
  const auto staged = std::make_shared<const std::vector<std::byte>>(from, from + copy.bytes);
  return enqueue(stream, [=] { run({copy.to, staged->data(), copy.bytes}); });
}

cudaError_t enqueue_and_finish(const Copy& copy, cudaStream_t stream) {
  stand_in_note_wait();
  const cudaError_t error = enqueue(stream, [copy] { run(copy); });
  return error == cudaSuccess ? finish_stream(stream) : error;
}

cudaError_t copy_async(const Copy& copy, cudaStream_t handle) {
  const StandInStream* const stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (copy.bytes == 0) return cudaSuccess;
  stand_in_note_copy(copy.kind());
  if (stream->capture != nullptr) return enqueue(handle, [copy] { run(copy); });
  if (copy.to_device() && copy.from_pageable()) return enqueue_staged(copy, handle);
  const bool on_host = !copy.to_device() && !copy.from_device();
  if (on_host || copy.to_pageable()) return enqueue_and_finish(copy, handle);
  return enqueue(handle, [copy] { run(copy); });
}

// Returns when the caller's memory is free again: the staged bytes may still be on their way.
cudaError_t copy_sync(const Copy& copy) {
  if (copy.bytes == 0) return cudaSuccess;
  if (copy.to_device() && copy.from_device()) return enqueue(nullptr, [copy] { run(copy); });
  if (!copy.to_device() || !copy.from_pageable()) return enqueue_and_finish(copy, nullptr);
  stand_in_note_wait();
  const cudaError_t error = finish_stream(nullptr);
  return error == cudaSuccess ? enqueue_staged(copy, nullptr) : error;
}

cudaError_t set(void* at, int value, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  const int device = stand_in_device_of(at);
  return enqueue(stream, [=] {
    const Access access(device, {at});
    std::memset(at, value, bytes);
  });
}

}  // namespace

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return call(cudaErrorUnknown, [&] { return copy_sync({to, from, bytes}); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return call(cudaErrorUnknown, [&] { return copy_async({to, from, bytes}, stream); });
}

cudaError_t cudaMemset(void* at, int value, std::size_t bytes) {
  return call(cudaErrorUnknown, [&] {
    const cudaError_t error = set(at, value, bytes, nullptr);
    return error == cudaSuccess && stand_in_device_of(at) < 0 ? finish_stream(nullptr) : error;
  });
}

cudaError_t cudaMemsetAsync(void* at, int value, std::size_t bytes, cudaStream_t stream) {
  return call(cudaErrorUnknown, [&] { return set(at, value, bytes, stream); });
}

#include <cuda_runtime.h>

#include <cstring>
#include <mutex>
#include <new>

#include "gpu/kernels/on_host/launch.hpp"
#include "support/gpu_driver.h"

namespace {

thread_local int current_device = 0;

// Scope in which the memory of the current device is accessible, because the runtime uses it.
struct Open {
  const int device = current_device;
  Open() { stand_in_open(device); }
  Open(const Open&) = delete;
  ~Open() { stand_in_close(device); }
};

}  // namespace

namespace taut::shim {

void launch(unsigned blocks, unsigned threads, std::size_t shared_bytes, const Gpu::Body& body) {
  static std::mutex one_at_a_time;
  static Gpu gpu(1);
  const std::lock_guard lock(one_at_a_time);
  const Open open;
  stand_in_note_launch();
  gpu.launch(blocks, threads, shared_bytes, body);
}

}  // namespace taut::shim

const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : error == cudaSuccess ? "no error" : "invalid";
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = stand_in_devices;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= stand_in_devices) return cudaErrorInvalidValue;
  current_device = device;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* at) {
  attributes->device = stand_in_device_of(at);
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** at, std::size_t bytes) {
  *at = stand_in_allocate(bytes, current_device);
  return *at != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void* at) {
  stand_in_free(at);
  return taut::shim::free_fails() ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaMallocAsync(void** at, std::size_t bytes, cudaStream_t) {
  return taut::shim::supports_pools() ? cudaMalloc(at, bytes) : cudaErrorNotSupported;
}
cudaError_t cudaFreeAsync(void* at, cudaStream_t) {
  return taut::shim::supports_pools() ? cudaFree(at) : cudaErrorNotSupported;
}

cudaError_t cudaHostAlloc(void** at, std::size_t bytes, unsigned) {
  *at = ::operator new(bytes, std::nothrow);
  return *at != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void* at) {
  ::operator delete(at);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  stand_in_copy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemset(void* at, int value, std::size_t bytes) {
  const Open open;
  std::memset(at, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* at, int value, std::size_t bytes, cudaStream_t) {
  return cudaMemset(at, value, bytes);
}

cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

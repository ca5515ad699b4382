// Device memory in the order of a stream. It comes from a memory pool of Taut's own, which keeps some memory
// between calls: the device's default pool belongs to the program, and gives all free memory back to the
// system whenever the program waits for the device. Devices without memory pools (some virtual GPUs) get
// memory by cudaMalloc, which may wait for the device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace taut::api {

class DeviceMemory {
 public:
  // Allocates on the current device.
  cudaError_t allocate(void** memory, std::size_t bytes, cudaStream_t stream) {
    cudaMemPool_t pool = nullptr;
    if (const cudaError_t error = pool_of_device(pool); error != cudaSuccess) return error;
    return pool != nullptr ? cudaMallocFromPoolAsync(memory, bytes, pool, stream) : cudaMalloc(memory, bytes);
  }

  // Frees memory of the current device.
  cudaError_t free(void* memory, cudaStream_t stream) {
    cudaMemPool_t pool = nullptr;
    if (const cudaError_t error = pool_of_device(pool); error != cudaSuccess) return error;
    return pool != nullptr ? cudaFreeAsync(memory, stream) : cudaFree(memory);
  }

  // Gives unused memory of all pools back to the system.
  cudaError_t trim() {
    const std::lock_guard lock(mutex_);
    for (const auto& [device, pool] : pools_)
      if (const cudaError_t error = cudaMemPoolTrimTo(pool, 0); error != cudaSuccess) return error;
    return cudaSuccess;
  }

 private:
  static constexpr std::uint64_t kept_bytes = std::uint64_t{256} << 20;  // unused memory that a pool keeps

  // Finds the pool of the current device; null if the device has no pools.
  cudaError_t pool_of_device(cudaMemPool_t& pool) {
    int device = 0, supported = 0;
    if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
    const cudaError_t error = cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device);
    if (error != cudaSuccess || supported == 0) return error;
    const std::lock_guard lock(mutex_);
    if (const auto found = pools_.find(device); found != pools_.end()) {
      pool = found->second;
      return cudaSuccess;
    }
    return create(device, pool);
  }

  cudaError_t create(int device, cudaMemPool_t& pool) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    if (const cudaError_t error = cudaMemPoolCreate(&pool, &properties); error != cudaSuccess) return error;
    std::uint64_t threshold = kept_bytes;
    pools_[device] = pool;
    return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  }

  std::mutex mutex_;
  std::map<int, cudaMemPool_t> pools_;
};

inline DeviceMemory& device_memory() {
  static DeviceMemory all;
  return all;
}

}  // namespace taut::api

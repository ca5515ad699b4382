// The memory manager of libtaut_cuda: allocates pooled, plain and pinned memory (MemoryKind), and keeps what
// must not be freed while a stream waits for the host.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "compressor/gpu/device_services.hpp"

namespace taut::gpu {

class DeviceMemory {
 public:
  // Allocates pooled memory on the current device, in the order of the stream. It comes from a memory pool of
  // Taut's own, which keeps some memory between calls: the device's default pool belongs to the program, and
  // gives all free memory back to the system whenever the program waits for the device. Devices without
  // memory pools (some virtual GPUs) get memory by cudaMalloc, which may wait for the device.
  cudaError_t allocate(void** memory, std::size_t bytes, cudaStream_t stream) {
    cudaMemPool_t pool = nullptr;
    if (const cudaError_t error = pool_of_device(pool); error != cudaSuccess) return error;
    return pool != nullptr ? cudaMallocFromPoolAsync(memory, bytes, pool, stream) : cudaMalloc(memory, bytes);
  }

  // Frees pooled memory of the current device.
  cudaError_t free(void* memory, cudaStream_t stream) {
    cudaMemPool_t pool = nullptr;
    if (const cudaError_t error = pool_of_device(pool); error != cudaSuccess) return error;
    return pool != nullptr ? cudaFreeAsync(memory, stream) : cudaFree(memory);
  }

  // Allocates plain memory of the current device, or pinned memory, which every device accesses at the same
  // address.
  cudaError_t allocate_unordered(void** memory, std::size_t bytes, MemoryKind kind) {
    Unordered wanted{bytes, -1};
    if (kind == MemoryKind::plain)
      if (const cudaError_t error = cudaGetDevice(&wanted.device); error != cudaSuccess) return error;
    if (kind == MemoryKind::plain) wanted.bytes = std::bit_ceil(bytes);
    const std::lock_guard lock(mutex_);
    if (take(memory, wanted)) return cudaSuccess;
    free_kept(false);
    kept_.reserve(unordered_.size() + 1);  // room for the return of all memory
    cudaError_t error = create(memory, wanted);
    if (error == cudaErrorMemoryAllocation) {
      free_kept(true);
      error = create(memory, wanted);
    }
    if (error == cudaSuccess) unordered_[*memory] = wanted;
    return error;
  }

  // Frees pinned memory, or keeps it until no stream waits for the host: cudaFreeHost would wait for such a
  // stream, and launches of other threads, which the stream waits for, would wait for cudaFreeHost. Plain
  // memory is kept until trim(), or until memory is short: cudaFree would wait for all work of the device,
  // also for kernels that wait for other ranks. Its sizes are powers of two, so that little is kept.
  void free_unordered(void* memory) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(memory);
    free_kept(false);
  }

  // Notes that a stream is about to wait until *word has reached `value`. The word is never freed.
  void note_wait(const std::uint32_t* word, std::uint32_t value) {
    const std::lock_guard lock(mutex_);
    any_wait();
    waits_.emplace_back(word, value);
  }

  // Gives unused memory back to the system: that of all pools, and what was kept if no stream waits now.
  cudaError_t trim() {
    const std::lock_guard lock(mutex_);
    free_kept(true);
    for (const auto& [device, pool] : pools_)
      if (const cudaError_t error = cudaMemPoolTrimTo(pool, 0); error != cudaSuccess) return error;
    return cudaSuccess;
  }

 private:
  static constexpr std::uint64_t kept_bytes = std::uint64_t{256} << 20;  // unused memory that a pool keeps

  // Plain or pinned memory, which is allocated and freed in the order of no stream. `device`: of plain
  // memory; -1: pinned.
  struct Unordered {
    std::size_t bytes;
    int device;
  };

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

  // Returns true if some stream may still wait for the host.
  bool any_wait() {
    std::erase_if(waits_, [](const auto& wait) {
      return static_cast<std::int32_t>(__atomic_load_n(wait.first, __ATOMIC_ACQUIRE) - wait.second) >= 0;
    });
    return !waits_.empty();
  }

  // Finds kept memory of the device and size, or at most twice as large.
  bool take(void** memory, const Unordered& wanted) {
    std::size_t best = kept_.size(), least = 2 * wanted.bytes + 1;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const Unordered& kept = unordered_[kept_[i]];
      if (kept.device == wanted.device && kept.bytes >= wanted.bytes && kept.bytes < least)
        best = i, least = kept.bytes;
    }
    if (best == kept_.size()) return false;
    *memory = std::exchange(kept_[best], kept_.back());
    kept_.pop_back();
    return true;
  }

  static cudaError_t create(void** memory, const Unordered& wanted) {
    if (wanted.device >= 0) return cudaMalloc(memory, wanted.bytes);
    return cudaHostAlloc(memory, wanted.bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  }

  // Frees the pinned memory that is kept, and the plain memory if asked for, unless a stream waits.
  void free_kept(bool plain_too) {
    if (kept_.empty() || any_wait()) return;
    std::erase_if(kept_, [&](void* memory) {
      const bool plain = unordered_[memory].device >= 0;
      if (plain && !plain_too) return false;
      plain ? cudaFree(memory) : cudaFreeHost(memory);
      return unordered_.erase(memory) != 0;
    });
  }

  std::mutex mutex_;
  std::map<int, cudaMemPool_t> pools_;
  std::vector<std::pair<const std::uint32_t*, std::uint32_t>> waits_;
  std::map<void*, Unordered> unordered_;
  std::vector<void*> kept_;
};

// Never destroyed: memory is freed after static destructors.
inline DeviceMemory& device_memory() {
  static auto* const all = new DeviceMemory;
  return *all;
}

}  // namespace taut::gpu

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

// Drops an error on which nothing depends. The program must not find it in cudaGetLastError.
inline void drop_error(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
}

// Scope in which calls of this thread leave captures of other streams alone. While the program captures a
// stream, CUDA otherwise refuses some calls of all threads (allocations, cudaEventQuery), and ends the
// capture.
class RelaxedCaptureScope {
 public:
  RelaxedCaptureScope() noexcept { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCaptureScope(const RelaxedCaptureScope&) = delete;
  ~RelaxedCaptureScope() { cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// All memory of libtaut_cuda. Threads may call it at the same time.
class DeviceMemory {
 public:
  // Allocates pooled memory on the current device, in the order of the stream. It comes from a memory pool of
  // Taut's own, which keeps some memory between calls: the device's default pool belongs to the program, and
  // gives all free memory back to the system whenever the program waits for the device. Devices without
  // memory pools (some virtual GPUs) get memory by cudaMalloc, which may wait for the device.
  cudaError_t allocate(void** memory, std::size_t bytes, cudaStream_t stream) {
    cudaMemPool_t pool = nullptr;
    if (const cudaError_t error = pool_of_device(pool); error != cudaSuccess) return error;
    const auto create = [&] {
      return pool != nullptr ? cudaMallocFromPoolAsync(memory, bytes, pool, stream)
                             : cudaMalloc(memory, bytes);
    };
    const cudaError_t error = create();
    if (error == cudaSuccess) return error;
    const std::lock_guard lock(mutex_);
    return make_room(error) ? create() : error;
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
    Allocation wanted{bytes, -1};
    if (kind == MemoryKind::plain)
      if (const cudaError_t error = cudaGetDevice(&wanted.device); error != cudaSuccess) return error;
    if (kind == MemoryKind::plain) wanted.bytes = std::bit_ceil(bytes);
    const std::lock_guard lock(mutex_);
    if (take_unused(memory, wanted)) return cudaSuccess;
    free_unused(false);
    unused_.reserve(unordered_.size() + 1);                // free_unordered() cannot throw then
    std::map<void*, Allocation> entry{{nullptr, wanted}};  // nothing can throw once there is memory
    cudaError_t error = create(memory, wanted);
    if (make_room(error)) error = create(memory, wanted);
    if (error != cudaSuccess) return error;
    auto node = entry.extract(nullptr);
    node.key() = *memory;
    unordered_.insert(std::move(node));
    return cudaSuccess;
  }

  // Frees pinned memory, or keeps it until no stream waits for the host: cudaFreeHost would wait for such a
  // stream, and launches of other threads, which the stream waits for, would wait for cudaFreeHost. Plain
  // memory is kept until trim(), or until memory is short: cudaFree would wait for all work of the device,
  // also for kernels that wait for other ranks. Its sizes are powers of two, so that it is reused. No work
  // may use the memory any more: allocate_unordered() hands it out at once.
  void free_unordered(void* memory) {
    const std::lock_guard lock(mutex_);
    unused_.push_back(memory);
    free_unused(false);
  }

  // Notes that a stream is about to wait until *word has reached `value`. The word is never freed.
  void note_wait(const std::uint32_t* word, std::uint32_t value) {
    const std::lock_guard lock(mutex_);
    drop_past_waits();
    waits_.emplace_back(word, value);
  }

  // Returns true if the current device has a pool.
  bool has_pool() {
    const std::lock_guard lock(mutex_);
    return existing_pool() != nullptr;
  }

  // Gives the unused memory of the current device's pool back to the system, unless a stream waits for the
  // host.
  void trim_pool() {
    const std::lock_guard lock(mutex_);
    if (const cudaMemPool_t pool = existing_pool(); pool != nullptr && !any_wait())
      drop_error(cudaMemPoolTrimTo(pool, 0));
  }

  // Gives unused memory back to the system: that of all pools, and freed memory if no stream waits now.
  cudaError_t trim() {
    const std::lock_guard lock(mutex_);
    free_unused(true);
    for (const auto& [device, pool] : pools_)
      if (const cudaError_t error = cudaMemPoolTrimTo(pool, 0); error != cudaSuccess) return error;
    return cudaSuccess;
  }

 private:
  static constexpr std::uint64_t pool_kept_bytes = std::uint64_t{256} << 20;  // unused memory of a pool

  // Plain or pinned memory, which is allocated and freed independently of all streams. `device`: the device
  // of plain memory; -1: the memory is pinned.
  struct Allocation {
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
    return create_pool(device, pool);
  }

  // Returns the pool of the current device; null if none was created.
  cudaMemPool_t existing_pool() {
    int device = -1;
    drop_error(cudaGetDevice(&device));
    const auto found = pools_.find(device);
    return found != pools_.end() ? found->second : nullptr;
  }

  cudaError_t create_pool(int device, cudaMemPool_t& pool) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    if (const cudaError_t error = cudaMemPoolCreate(&pool, &properties); error != cudaSuccess) return error;
    std::uint64_t threshold = pool_kept_bytes;
    const cudaError_t error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
    if (error == cudaSuccess) {
      pools_[device] = pool;
    } else {
      drop_error(cudaMemPoolDestroy(pool));
    }
    return error;
  }

  // Drops the waits whose word has reached its value.
  void drop_past_waits() {
    std::erase_if(waits_, [](const auto& wait) {
      return static_cast<std::int32_t>(__atomic_load_n(wait.first, __ATOMIC_ACQUIRE) - wait.second) >= 0;
    });
  }

  // Returns true if some stream may still wait for the host.
  bool any_wait() {
    drop_past_waits();
    return !waits_.empty();
  }

  // Takes unused memory of the wanted device, of the wanted size or up to twice as large.
  bool take_unused(void** memory, const Allocation& wanted) {
    std::size_t best = unused_.size(), best_bytes = 2 * wanted.bytes + 1;
    for (std::size_t i = 0; i < unused_.size(); ++i) {
      const Allocation& unused = unordered_[unused_[i]];
      if (unused.device == wanted.device && unused.bytes >= wanted.bytes && unused.bytes < best_bytes)
        best = i, best_bytes = unused.bytes;
    }
    if (best == unused_.size()) return false;
    *memory = std::exchange(unused_[best], unused_.back());
    unused_.pop_back();
    return true;
  }

  static cudaError_t create(void** memory, const Allocation& wanted) {
    if (wanted.device >= 0) return cudaMalloc(memory, wanted.bytes);
    return cudaHostAlloc(memory, wanted.bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  }

  // Frees the unused pinned memory, and the unused plain memory if asked for, unless a stream waits.
  void free_unused(bool plain_too) {
    if (unused_.empty() || any_wait()) return;
    std::erase_if(unused_, [&](void* memory) {
      const bool plain = unordered_[memory].device >= 0;
      if (plain && !plain_too) return false;
      drop_error(plain ? cudaFree(memory) : cudaFreeHost(memory));
      return unordered_.erase(memory) != 0;
    });
  }

  // Frees unused memory if an allocation has failed for want of memory. Returns true if it is worth
  // repeating.
  bool make_room(cudaError_t error) {
    const RelaxedCaptureScope scope;
    const std::size_t before = unused_.size();
    if (error == cudaErrorMemoryAllocation) free_unused(true);
    if (unused_.size() == before) return false;
    drop_error(error);
    return true;
  }

  std::mutex mutex_;
  std::map<int, cudaMemPool_t> pools_;                                 // by device
  std::vector<std::pair<const std::uint32_t*, std::uint32_t>> waits_;  // words, and the awaited values
  std::map<void*, Allocation> unordered_;                              // all plain and pinned memory
  std::vector<void*> unused_;                                          // memory of unordered_ that is freed
};

// Never destroyed: memory is freed after static destructors.
inline DeviceMemory& device_memory() {
  static auto* const memory = new DeviceMemory;
  return *memory;
}

}  // namespace taut::gpu

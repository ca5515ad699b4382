// Streams that wait for the host, and pinned memory, which is freed only while no stream does: cudaFreeHost
// would wait for such a stream, and launches of other threads, which the stream waits for, would wait for
// cudaFreeHost.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace taut::api {

class HeldStreams {
 public:
  // Notes that a stream is about to wait until *word has reached `value`. The word is never freed.
  void note_wait(const std::uint32_t* word, std::uint32_t value) {
    const std::lock_guard lock(mutex_);
    any_wait();
    waits_.emplace_back(word, value);
  }

  // Allocates pinned memory that every device accesses at the same address.
  cudaError_t allocate(void** memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (take(memory, bytes)) return cudaSuccess;
    free_kept();
    kept_.reserve(sizes_.size() + 1);  // room for the return of all memory
    const cudaError_t error = cudaHostAlloc(memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
    if (error == cudaSuccess) sizes_[*memory] = bytes;
    return error;
  }

  // Frees pinned memory, or keeps it until no stream waits.
  void free(void* memory) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(memory);
    free_kept();
  }

  // Frees the memory that was kept, if no stream waits now.
  void trim() {
    const std::lock_guard lock(mutex_);
    free_kept();
  }

 private:
  // Returns true if a stream may still wait.
  bool any_wait() {
    std::erase_if(waits_, [](const auto& wait) {
      return static_cast<std::int32_t>(__atomic_load_n(wait.first, __ATOMIC_ACQUIRE) - wait.second) >= 0;
    });
    return !waits_.empty();
  }

  // Finds kept memory of the size, or at most twice as large.
  bool take(void** memory, std::size_t bytes) {
    std::size_t best = kept_.size(), least = 2 * bytes + 1;
    for (std::size_t i = 0; i < kept_.size(); ++i)
      if (const std::size_t size = sizes_[kept_[i]]; size >= bytes && size < least) best = i, least = size;
    if (best == kept_.size()) return false;
    *memory = std::exchange(kept_[best], kept_.back());
    kept_.pop_back();
    return true;
  }

  void free_kept() {
    if (kept_.empty() || any_wait()) return;
    for (void* const memory : kept_) sizes_.erase(memory), cudaFreeHost(memory);
    kept_.clear();
  }

  std::mutex mutex_;
  std::vector<std::pair<const std::uint32_t*, std::uint32_t>> waits_;
  std::map<void*, std::size_t> sizes_;
  std::vector<void*> kept_;
};

inline HeldStreams& held_streams() {
  static auto* const one = new HeldStreams;
  return *one;
}

}  // namespace taut::api

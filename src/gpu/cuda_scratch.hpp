// Scratch memory of GPU calls: one allocation for each stream and use, whose size is a power of two bytes.
// Calls on a stream run one after the other, so they share the allocation.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <tuple>

#include "gpu/cuda_memory.hpp"
#include "gpu/simt/frame.hpp"

namespace taut::api {

class CudaScratch {
 public:
  // Purpose of an allocation. Purposes do not share memory, because a call relies on words that earlier calls
  // have left there.
  enum class Use { planes, mpc, zfp, slots, integers };

  // Returns at least `bytes` of scratch memory, with an initialised ScratchHead at its start. Throws
  // cudaError_t.
  std::byte* of(cudaStream_t stream, Use use, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    int device = 0;
    check(cudaGetDevice(&device));
    Block& block = blocks_[{device, stream, use}];
    if (block.bytes >= bytes) return block.at;
    const std::size_t size = std::bit_ceil(std::max(bytes, least_bytes));
    std::byte* at = nullptr;
    check(device_memory().allocate(reinterpret_cast<void**>(&at), size, stream));
    check(cudaMemsetAsync(at, 0, size, stream));
    static const cuda::HeaderCrc table = cuda::header_crc_table();
    check(cudaMemcpyAsync(at + offsetof(cuda::ScratchHead, crc), &table, sizeof table, cudaMemcpyHostToDevice,
                          stream));
    if (block.at != nullptr) check(device_memory().free(block.at, stream));
    block = {at, size};
    return at;
  }

  void release() {
    const std::lock_guard lock(mutex_);
    while (!blocks_.empty()) {
      void* const at = blocks_.begin()->second.at;
      blocks_.erase(blocks_.begin());  // never freed again, even if CUDA reports an error now
      check(cudaFree(at));
    }
    check(device_memory().trim());
  }

  static void check(cudaError_t error) {
    if (error != cudaSuccess) throw error;
  }

 private:
  static constexpr std::size_t least_bytes = 1 << 16;
  struct Block {
    std::byte* at = nullptr;
    std::size_t bytes = 0;
  };

  std::mutex mutex_;
  std::map<std::tuple<int, cudaStream_t, Use>, Block> blocks_;
};

}  // namespace taut::api

// Scratch memory of GPU calls: one allocation for each stream and purpose, whose size is a power of two
// bytes. Calls on a stream run one after the other, so they share the allocation.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "compressor/gpu/cuda_memory.hpp"
#include "compressor/gpu/simt/frame.hpp"

namespace taut::gpu {

// Exception of a call that needs more scratch memory than its captured stream has.
struct NotReserved {};

// Scratch memory of one stream. Kernels of two calls must not mix on a stream, because they share this
// memory: `turn` belongs to the call that launches kernels.
struct StreamScratch {
  // Purpose of an allocation: a codec, by its frame_id, and a number of its own. Purposes do not share
  // memory, because a call relies on words that earlier calls have left there.
  struct Purpose {
    std::uint8_t codec;
    std::uint8_t number;

    // Returns the purpose of item i of a call on several frames.
    constexpr Purpose for_item(unsigned i) const { return {codec, static_cast<std::uint8_t>(number + i)}; }
    friend constexpr auto operator<=>(const Purpose&, const Purpose&) = default;
  };
  static constexpr Purpose shared{0, 0};  // for calls that rely on no earlier words

  struct Block {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    bool captured = false;  // a graph may use the memory, which is therefore never freed
  };

  std::recursive_mutex turn;
  std::map<Purpose, Block> blocks;
};

class CudaScratch {
 public:
  using Purpose = StreamScratch::Purpose;
  static constexpr Purpose shared = StreamScratch::shared;

  // Returns at least `bytes` of scratch memory, with an initialised ScratchHead at its start. The call of
  // this thread has the stream's turn from now on. Throws cudaError_t or NotReserved.
  std::byte* reserve(cudaStream_t stream, Purpose purpose, std::size_t bytes);

  // Frees all memory that no graph may use. No call is in flight.
  void release() {
    const std::lock_guard lock(mutex_);
    for (auto& [key, scratch] : streams_)
      for (auto& [purpose, block] : scratch.blocks) {
        const StreamScratch::Block freed =
            std::exchange(block, block.captured ? block : StreamScratch::Block{});
        if (freed.data != nullptr && !freed.captured) check(cudaFree(freed.data));
      }
    check(device_memory().trim());
  }

  // Frees a block in the order of the stream, unless a graph may use it.
  static cudaError_t give_back(const StreamScratch::Block& block, cudaStream_t stream) {
    return block.data == nullptr || block.captured ? cudaSuccess : device_memory().free(block.data, stream);
  }

  static void check(cudaError_t error) {
    if (error != cudaSuccess) throw error;
  }

 private:
  static constexpr std::size_t min_bytes = 1 << 16;

  // Key of a stream: device and handle, and the calling thread for cudaStreamPerThread, a handle by which
  // each thread has a stream of its own.
  struct Handle {
    int device;
    cudaStream_t stream;
    std::thread::id thread;

    Handle(int number, cudaStream_t handle) : device(number), stream(handle) {
      if (handle == cudaStreamPerThread) thread = std::this_thread::get_id();
    }
    auto operator<=>(const Handle&) const = default;
  };

  // Finds the memory of a stream by the stream's number, because CUDA uses handles again. cudaStreamGetId
  // ends a capture (error 900, driver 580), so a captured stream is taken for the one that had its handle in
  // the last call. If that was another stream, the program has destroyed it.
  StreamScratch& find(cudaStream_t stream, bool captured) {
    int device = 0;
    unsigned long long number = 0;
    check(cudaGetDevice(&device));
    if (!captured) check(cudaStreamGetId(stream, &number));
    const std::lock_guard lock(mutex_);
    const Handle handle(device, stream);
    if (!captured) numbers_[handle] = number;
    const auto known = numbers_.find(handle);
    if (known == numbers_.end()) throw NotReserved{};
    return streams_[{device, known->second}];
  }

  static bool is_captured(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &status));
    return status != cudaStreamCaptureStatusNone;
  }

  static StreamScratch::Block allocate(cudaStream_t stream, std::size_t bytes) {
    StreamScratch::Block block{nullptr, std::bit_ceil(std::max(bytes, min_bytes))};
    check(device_memory().allocate(reinterpret_cast<void**>(&block.data), block.bytes, stream));
    if (const cudaError_t error = initialise(block, stream); error != cudaSuccess) {
      give_back(block, stream);
      throw error;
    }
    return block;
  }

  static cudaError_t initialise(const StreamScratch::Block& block, cudaStream_t stream) {
    static const cuda::HeaderCrc table = cuda::header_crc_table();
    const cudaError_t error = cudaMemsetAsync(block.data, 0, block.bytes, stream);
    if (error != cudaSuccess) return error;
    return cudaMemcpyAsync(block.data + offsetof(cuda::ScratchHead, crc), &table, sizeof table,
                           cudaMemcpyHostToDevice, stream);
  }

  std::mutex mutex_;
  std::map<Handle, unsigned long long> numbers_;  // number of the stream that had the handle last
  std::map<std::pair<int, unsigned long long>, StreamScratch> streams_;  // by device and stream number
};

inline CudaScratch& scratch() {
  static CudaScratch all;
  return all;
}

// Scope of a call of taut_cuda.h in a host thread. The call has the turn of its stream from its first use of
// scratch memory to its end.
class CudaCall {
 public:
  CudaCall() : outer_(std::exchange(current(), this)) {}
  CudaCall(const CudaCall&) = delete;
  ~CudaCall() {
    if (scratch_ != nullptr) scratch_->turn.unlock();
    current() = outer_;
  }

  // Innermost call of this thread.
  static CudaCall*& current() {
    thread_local CudaCall* call = nullptr;
    return call;
  }

  void take_turn(StreamScratch& scratch, cudaStream_t stream) {
    if (scratch_ != nullptr) return;  // a call uses one stream
    scratch.turn.lock();
    scratch_ = &scratch;
    stream_ = stream;
  }

  void note_use(StreamScratch::Purpose purpose) { used_.push_back(purpose); }

  // Gives back the scratch memory of a call that has launched some of its kernels only: the words there are
  // those of a call in progress. The next call takes new memory.
  void abandon_scratch() noexcept {
    for (const StreamScratch::Purpose purpose : used_)
      CudaScratch::give_back(std::exchange(scratch_->blocks[purpose], {}), stream_);
  }

 private:
  CudaCall* outer_;
  StreamScratch* scratch_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::vector<StreamScratch::Purpose> used_;
};

inline std::byte* CudaScratch::reserve(cudaStream_t stream, Purpose purpose, std::size_t bytes) {
  const bool captured = is_captured(stream);
  StreamScratch& own = find(stream, captured);
  CudaCall::current()->take_turn(own, stream);
  StreamScratch::Block& block = own.blocks[purpose];
  if (block.bytes < bytes) {
    if (captured) throw NotReserved{};
    const StreamScratch::Block outgrown = std::exchange(block, allocate(stream, bytes));
    check(give_back(outgrown, stream));
  }
  block.captured |= captured;
  CudaCall::current()->note_use(purpose);
  return block.data;
}

}  // namespace taut::gpu

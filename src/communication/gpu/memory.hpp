// Memory of GPUs and pinned memory: blocks for one owner, and pools for the calls of a communicator.
#pragma once

#include <memory>

#include "communication/team/place.hpp"
#include "compressor/gpu/device_services.hpp"

namespace taut::gpu {

class Device;
class StreamPoint;

// Throws Error unless `code`, a status of taut_cuda.h, is 0.
void check(const DeviceServices& services, int code);

// Makes a device the current device of the thread, and the one before current again at the end of the scope.
class CurrentDevice {
 public:
  CurrentDevice(const DeviceServices& services, int device);  // throws Error
  explicit CurrentDevice(const Device& device) noexcept;
  CurrentDevice(const CurrentDevice&) = delete;
  ~CurrentDevice();

  // Returns the error of CUDA, after which another device may be current; 0: no error.
  int code() const noexcept { return code_; }

 private:
  const DeviceServices& services_;
  int device_, previous_ = -1, code_;
};

// A stream of Taut's own on the current device. No work of the program delays its work. Throws Error.
class OwnStream {
 public:
  explicit OwnStream(const DeviceServices& services) : services_(services) {
    check(services, services.open_stream(&stream_));
  }
  OwnStream(const OwnStream&) = delete;
  ~OwnStream() { services_.close_stream(stream_); }
  void* get() const noexcept { return stream_; }

 private:
  const DeviceServices& services_;
  void* stream_ = nullptr;
};

// A block of memory that grows, on the current device if it is not pinned. Work on its old content must be
// done when it grows.
class MemoryBlock {
 public:
  MemoryBlock(const DeviceServices& services, MemoryKind kind) noexcept : services_(services), kind_(kind) {}
  MemoryBlock(const MemoryBlock&) = delete;
  ~MemoryBlock() { free(); }

  // Returns memory of at least that size; its content is unspecified. Throws Error(out_of_memory).
  std::byte* reserve(std::size_t bytes);
  std::byte* data() const noexcept { return static_cast<std::byte*>(memory_); }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void free() noexcept;

  const DeviceServices& services_;
  MemoryKind kind_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

// Frees memory once all work that is on `stream` now is done. The stream belongs to the thread's current
// device. The host does not wait: after a failure the stream may wait for other ranks for ever. Memory whose
// work is done is freed by the next call of this function, and by TAUT_Cuda_release.
void free_after(const DeviceServices& services, void* stream, std::shared_ptr<void> memory) noexcept;
// Does the same for the work before a point in a stream of the current device.
void free_after(const DeviceServices& services, std::unique_ptr<StreamPoint> end,
                std::shared_ptr<void> memory) noexcept;

// Pool of memory of one kind. TAUT_Cuda_release frees the unused memory of all pools.
class DevicePool : public PooledPlace {
 public:
  DevicePool(Device& device, MemoryKind kind, MessageMemory* message_memory = nullptr);
  ~DevicePool() override;

  // Frees the unused memory of all pools of this process. No other thread may use a pool meanwhile.
  static void trim_all() noexcept;

 protected:
  std::byte* allocate(std::size_t bytes) noexcept override;
  void release(std::byte* data) noexcept override;

  Device& device_;

 private:
  MemoryKind kind_;
};

}  // namespace taut::gpu

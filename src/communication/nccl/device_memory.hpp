// Memory of one communicator: blocks on its GPU and in pinned memory, which are kept for later use.
#pragma once

#include <cstddef>
#include <memory>

#include "compressor/gpu/device_services.hpp"

namespace taut::nccl {

// Block of memory that grows. Everything enqueued on its old content must be done when it grows.
class Block {
 public:
  enum class Kind { device, pinned };
  Block(const api::DeviceServices& services, Kind kind) noexcept : services_(services), kind_(kind) {}
  Block(const Block&) = delete;
  ~Block() { free(); }

  // Returns memory of at least that size; its content is unspecified. Throws Error(out_of_memory).
  std::byte* of(std::size_t bytes);
  std::byte* data() const noexcept { return static_cast<std::byte*>(memory_); }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void free() noexcept;

  const api::DeviceServices& services_;
  Kind kind_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

// Scope in which a device is the current device of the thread. Throws Error.
class CurrentDevice {
 public:
  CurrentDevice(const api::DeviceServices& services, int device);
  CurrentDevice(const CurrentDevice&) = delete;
  ~CurrentDevice();

 private:
  const api::DeviceServices& services_;
  int device_, before_ = -1;
};

// A stream of Taut's own on the current device. No work of the program delays its work. Throws Error.
class OwnStream {
 public:
  explicit OwnStream(const api::DeviceServices& services);
  OwnStream(const OwnStream&) = delete;
  ~OwnStream() { services_.close_stream(stream_); }
  void* get() const noexcept { return stream_; }

 private:
  const api::DeviceServices& services_;
  void* stream_ = nullptr;
};

// Keeps memory until all work that `stream`, of the thread's current device, has now is done. The host does
// not wait: after a failure the stream may wait for other ranks for ever. Memory whose work is done is freed
// at the next failure, and by TAUT_Cuda_release.
void free_after(const api::DeviceServices& services, void* stream, std::shared_ptr<void> memory) noexcept;

// Throws Error unless `code`, a status of taut_cuda.h, is 0.
void check_device(const api::DeviceServices& services, int code);

}  // namespace taut::nccl

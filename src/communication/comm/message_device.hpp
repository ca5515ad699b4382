// Memory of messages, which threads share, and the GPUs that hold their values (docs/adr/0023).
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "communication/gpu/device_values.hpp"
#include "communication/team/place.hpp"

namespace taut {

// Pool of memory for several threads: the thread that frees a message may not be the one that made it.
// Buffers may outlive the owner of the pool, which exists until the last one returns.
class SharedPlace final : public Place, public std::enable_shared_from_this<SharedPlace> {
 public:
  // `keeps`: an object that the pool needs.
  explicit SharedPlace(std::unique_ptr<Place> pool, std::shared_ptr<void> keeps = nullptr) noexcept
      : keeps_(std::move(keeps)), pool_(std::move(pool)) {}

  Buffer scratch(std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    in_use_.reserve(in_use_.size() + 1);
    in_use_.push_back(pool_->scratch(bytes));
    if (in_use_.size() == 1) self_ = shared_from_this();
    return {this, in_use_.back().data(), in_use_.back().capacity()};
  }
  void reserve(std::size_t bytes, std::size_t blocks) override {
    const std::lock_guard lock(mutex_);
    pool_->reserve(bytes, blocks);
  }

 private:
  void recycle(std::byte* data, std::size_t) noexcept override {
    std::shared_ptr<SharedPlace> self;  // ends after the lock
    const std::lock_guard lock(mutex_);
    std::erase_if(in_use_, [data](const Buffer& one) { return one.data() == data; });
    if (in_use_.empty()) self = std::move(self_);
  }

  std::shared_ptr<void> keeps_;
  std::mutex mutex_;
  std::unique_ptr<Place> pool_;
  std::vector<Buffer> in_use_;
  std::shared_ptr<SharedPlace> self_;  // while buffers are in use
};

// A GPU as messages use it: the place of their values, and pinned memory for their frames. Only the frames
// may be used by several threads at a time.
class MessageDevice {
 public:
  explicit MessageDevice(const std::shared_ptr<gpu::Device>& device)
      : values_(device),
        frames_(std::make_shared<SharedPlace>(
            std::make_unique<gpu::DevicePool>(*device, gpu::MemoryKind::pinned), device)) {}

  gpu::DeviceValues& values() noexcept { return values_; }
  Place& frames() noexcept { return *frames_; }

 private:
  gpu::DeviceValues values_;
  std::shared_ptr<SharedPlace> frames_;
};

// The GPUs of the messages that one coder codes.
class MessageDevices {
 public:
  // Sets the stream of later messages.
  void set_stream(void* stream) noexcept;

  // Returns the GPU that holds values at this address; null if they are on the host. Returns nothing if they
  // are on a GPU whose kernels cannot be used in this process.
  std::optional<std::shared_ptr<MessageDevice>> of(const void* values) noexcept;

 private:
  std::mutex mutex_;
  gpu::Devices devices_;
  std::vector<std::shared_ptr<MessageDevice>> known_;
};

}  // namespace taut

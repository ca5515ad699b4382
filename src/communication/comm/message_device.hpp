// GPUs that hold the values of messages (docs/adr/0023).
#pragma once

#include <mutex>
#include <optional>

#include "communication/comm/shared_place.hpp"
#include "communication/gpu/device_values.hpp"

namespace taut {

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

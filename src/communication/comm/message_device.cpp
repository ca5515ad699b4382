#include "communication/comm/message_device.hpp"

#include "compressor/base/device_memory.hpp"

namespace taut {

void MessageDevices::set_stream(void* stream) noexcept {
  const std::lock_guard lock(mutex_);
  devices_.set_stream(stream);
}

std::optional<std::shared_ptr<MessageDevice>> MessageDevices::of(const void* values) noexcept {
  if (!on_device(values)) return nullptr;
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<gpu::Device> device = devices_.holding(values, nullptr);
  if (device == nullptr) return {};
  try {
    for (std::shared_ptr<MessageDevice>& known : known_) {
      if (known->values().device().number() != device->number()) continue;
      if (&known->values().device() != device.get()) known = std::make_shared<MessageDevice>(device);
      return known;  // else the stream was changed
    }
    return known_.emplace_back(std::make_shared<MessageDevice>(device));
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace taut

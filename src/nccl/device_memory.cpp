#include "nccl/device_memory.hpp"

#include <string>

#include "core/status.hpp"

namespace taut::nccl {

void check_device(const api::DeviceServices& services, int code) {
  if (code == 0) return;
  const auto status = static_cast<Status>(code);
  throw Error(status,
              status == Status::device_failed ? std::string("CUDA: ") + services.why() : describe(status));
}

std::byte* Block::of(std::size_t bytes) {
  if (bytes <= bytes_) return data();
  free();
  const auto allocate = kind_ == Kind::device ? services_.allocate : services_.allocate_pinned;
  check_device(services_, allocate(&memory_, bytes));
  bytes_ = bytes;
  return data();
}

void Block::free() noexcept {
  if (memory_ != nullptr) (kind_ == Kind::device ? services_.free : services_.free_pinned)(memory_);
  memory_ = nullptr;
  bytes_ = 0;
}

CurrentDevice::CurrentDevice(const api::DeviceServices& services, int device)
    : services_(services), device_(device) {
  check_device(services, services.use(device, &before_));
}

CurrentDevice::~CurrentDevice() {
  int here = 0;
  if (before_ >= 0 && before_ != device_) services_.use(before_, &here);
}

OwnStream::OwnStream(const api::DeviceServices& services) : services_(services) {
  check_device(services, services.open_stream(&stream_));
}

}  // namespace taut::nccl

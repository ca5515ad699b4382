#include "communication/nccl/device_memory.hpp"

#include <mutex>
#include <string>
#include <vector>

#include "communication/gpu/stream_order.hpp"
#include "compressor/base/status.hpp"

namespace taut::nccl {
namespace {

// Memory that work of a stream may still use.
struct BusyMemory {
  const api::DeviceServices* services;
  int device;
  std::unique_ptr<gpu::StreamPoint> end;  // of that work
  std::shared_ptr<void> memory;
};

struct BusyMemories {
  std::mutex mutex;
  std::vector<BusyMemory> all;
};
BusyMemories& busy_memories() {
  static auto* const one = new BusyMemories;
  return *one;
}

// The caller holds the lock.
void free_unused(std::vector<BusyMemory>& all) noexcept {
  std::erase_if(all, [](BusyMemory& busy) {
    if (!busy.end->ready()) return false;
    int before = 0, here = 0;
    if (busy.services->use(busy.device, &before) != 0) return false;
    busy.memory.reset();
    busy.services->use(before, &here);
    return true;
  });
}

void free_all_unused() {
  const std::lock_guard lock(busy_memories().mutex);
  free_unused(busy_memories().all);
}

}  // namespace

// Without memory for the entry of the list, the host waits.
void free_after(const api::DeviceServices& services, void* stream, std::shared_ptr<void> memory) noexcept {
  static const bool once = (services.at_release(free_all_unused), true);
  static_cast<void>(once);
  int device = 0, here = 0;
  try {
    auto end = std::make_unique<gpu::StreamPoint>(services, stream);
    check_device(services, services.use(0, &device));
    check_device(services, services.use(device, &here));
    const std::lock_guard lock(busy_memories().mutex);
    free_unused(busy_memories().all);
    busy_memories().all.push_back({&services, device, std::move(end), memory});
  } catch (...) {
    services.wait(stream);
  }
}

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

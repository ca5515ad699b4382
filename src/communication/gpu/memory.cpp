#include "communication/gpu/memory.hpp"

#include <mutex>

#include "communication/gpu/device.hpp"
#include "communication/gpu/stream_order.hpp"
#include "compressor/base/guarded.hpp"

namespace taut::gpu {

void check(const DeviceServices& services, int code) {
  if (code == 0) return;
  const auto status = static_cast<Status>(code);
  throw Error(status, status == Status::device_failed ? std::string("CUDA: ") + services.last_error()
                                                      : describe(status));
}

// ---- CurrentDevice

CurrentDevice::CurrentDevice(const DeviceServices& services, int device)
    : services_(services), device_(device), code_(services.set_device(device, &previous_)) {
  check(services, code_);
}

CurrentDevice::CurrentDevice(const Device& device) noexcept
    : services_(device.services()),
      device_(device.number()),
      code_(services_.set_device(device_, &previous_)) {
  if (code_ != 0) previous_ = -1;
}

CurrentDevice::~CurrentDevice() {
  int here = 0;
  if (previous_ >= 0 && previous_ != device_) services_.set_device(previous_, &here);
}

// ---- MemoryBlock

std::byte* MemoryBlock::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return data();
  free();
  check(services_, services_.allocate(&memory_, bytes, kind_));
  bytes_ = bytes;
  return data();
}

void MemoryBlock::free() noexcept {
  if (memory_ != nullptr) services_.free(memory_, kind_);
  memory_ = nullptr;
  bytes_ = 0;
}

std::shared_ptr<std::byte[]> lasting_memory(const Device& device, std::size_t bytes) {
  const DeviceServices& services = device.services();
  const auto free = [&services, number = device.number()](std::byte* memory) {
    guarded([&] {
      const CurrentDevice current(services, number);
      services.free(memory, MemoryKind::pooled);
    });
  };
  const CurrentDevice current(services, device.number());
  void* memory = nullptr;
  check(services, services.allocate(&memory, bytes, MemoryKind::pooled));
  return {static_cast<std::byte*>(memory), free};
}

namespace {

// Memory that work on a stream may still use.
struct BusyMemory {
  const DeviceServices* services;
  int device;
  std::unique_ptr<StreamPoint> end;  // point in the stream at which the work is done
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

// Frees the memory whose work is done. No lock is held meanwhile: destructors may call free_after().
void free_unused() {
  std::vector<BusyMemory> unused;
  {
    const std::lock_guard lock(busy_memories().mutex);
    std::vector<BusyMemory>& all = busy_memories().all;
    unused.reserve(all.size());
    std::erase_if(all, [&](BusyMemory& busy) {
      if (!busy.end->ready()) return false;
      unused.push_back(std::move(busy));
      return true;
    });
  }
  for (BusyMemory& one : unused)
    guarded([&] {
      const CurrentDevice current(*one.services, one.device);
      one.memory.reset();
    });
}

void free_unused_at_release() {
  guarded([] { free_unused(); });
}

}  // namespace

// The host waits for the work only if there is no memory for an entry of the list.
void free_after(const DeviceServices& services, std::unique_ptr<StreamPoint> end,
                std::shared_ptr<void> memory) noexcept {
  static const bool once = (services.at_release(free_unused_at_release), true);
  static_cast<void>(once);
  const Status status = guarded([&] {
    int device = 0;
    check(services, services.current_device(&device));
    free_unused();
    const std::lock_guard lock(busy_memories().mutex);
    busy_memories().all.reserve(busy_memories().all.size() + 1);
    busy_memories().all.push_back({&services, device, std::move(end), memory});
  });
  while (status != Status::ok && end != nullptr && !end->ready()) continue;
}

void free_after(const DeviceServices& services, void* stream, std::shared_ptr<void> memory) noexcept {
  std::unique_ptr<StreamPoint> end;
  const Status status = guarded([&] { end = std::make_unique<StreamPoint>(services, stream); });
  if (status != Status::ok)
    services.wait(stream);
  else
    free_after(services, std::move(end), std::move(memory));
}

// ---- Pools

namespace {

struct Pools {
  std::mutex mutex;
  std::vector<DevicePool*> all;
};
Pools& pools() {
  static auto* const one = new Pools;
  return *one;
}

}  // namespace

DevicePool::DevicePool(Device& device, MemoryKind kind, MessageMemory* message_memory)
    : PooledPlace(message_memory, kind == MemoryKind::pinned), device_(device), kind_(kind) {
  const std::lock_guard lock(pools().mutex);
  pools().all.push_back(this);
}

DevicePool::~DevicePool() {
  trim();
  const std::lock_guard lock(pools().mutex);
  std::erase(pools().all, this);
}

void DevicePool::trim_all() noexcept {
  const std::lock_guard lock(pools().mutex);
  for (DevicePool* const pool : pools().all) pool->trim();
}

std::byte* DevicePool::allocate(std::size_t bytes) noexcept {
  const CurrentDevice current(device_);
  void* memory = nullptr;
  if (current.code() != 0 || device_.services().allocate(&memory, bytes, kind_) != 0) return nullptr;
  return static_cast<std::byte*>(memory);
}

void DevicePool::release(std::byte* data) noexcept {
  const CurrentDevice current(device_);
  device_.wait();
  device_.services().free(data, kind_);
}

}  // namespace taut::gpu

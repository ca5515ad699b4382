#include "gpu/device.hpp"

#include <atomic>
#include <new>

#include "core/device_memory.hpp"

namespace taut::gpu {

static_assert(static_cast<int>(Status::device_failed) == TAUT_ERR_CUDA);

// ---- Pools of memory

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

DevicePool::DevicePool(Device& device, MessageMemory* message_memory)
    : PooledPlace(message_memory), device_(device) {
  const std::lock_guard lock(pools().mutex);
  pools().all.push_back(this);
}

DevicePool::~DevicePool() {
  const std::lock_guard lock(pools().mutex);
  std::erase(pools().all, this);
}

void DevicePool::trim_all() noexcept {
  const std::lock_guard lock(pools().mutex);
  for (DevicePool* const pool : pools().all) pool->trim();
}

std::byte* PinnedPlace::allocate(std::size_t bytes) noexcept {
  const Device::Current current(device_);
  void* memory = nullptr;
  return device_.services().allocate_pinned(&memory, bytes) == 0 ? static_cast<std::byte*>(memory) : nullptr;
}

void PinnedPlace::release(std::byte* data) noexcept {
  const Device::Current current(device_);
  device_.wait();
  device_.services().free_pinned(data);
}

std::byte* DevicePlace::allocate(std::size_t bytes) noexcept {
  const Device::Current current(device_);
  void* memory = nullptr;
  return device_.services().allocate(&memory, bytes) == 0 ? static_cast<std::byte*>(memory) : nullptr;
}

void DevicePlace::release(std::byte* data) noexcept {
  const Device::Current current(device_);
  device_.wait();
  device_.services().free(data);
}

// ---- Device

Device::Current::Current(const Device& device) noexcept : device_(device) {
  if (device.services_.use(device.number_, &before_) != 0) before_ = -1;
}

Device::Current::~Current() {
  int here = 0;
  if (before_ >= 0 && before_ != device_.number_) device_.services_.use(before_, &here);
}

Device::Device(const api::DeviceServices& services, int number, void* stream, bool frames_there)
    : services_(services),
      number_(number),
      stream_(stream),
      keeps_frames_(frames_there),
      pinned_(*this),
      memory_(*this),
      frames_there_(*this),
      shared_memory_(pinned_.scratch(sizeof(Shared))),
      shared_(new (shared_memory_.data()) Shared{}) {
  [[maybe_unused]] static const bool once = (services.at_release(DevicePool::trim_all), true);
}

Status Device::copy(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes == 0) return Status::ok;
  const Current current(*this);
  pending_ = true;
  return drained(services_.copy_on(to, from, bytes, stream_));
}

Status Device::wait() noexcept {
  if (!pending_) return Status::ok;
  const Current current(*this);
  int code = services_.wait(stream_);
  if (code != 0 && services_.wait(stream_) != 0) return status_of(code);
  pending_ = false;
  return status_of(code);
}

Status Device::drained(int code) noexcept {
  if (code != 0) wait();
  return status_of(code);
}

// Reads `done` until a kernel has set it. Asks now and then for errors, after which no kernel would set it.
Status Device::poll(const std::uint32_t& done) noexcept {
  constexpr unsigned reads_between_queries = 4096;
  const auto set = [&] { return __atomic_load_n(&done, __ATOMIC_ACQUIRE) != 0; };
  for (unsigned reads = 1; !set(); ++reads) {
    if (reads % reads_between_queries != 0) continue;
    const Current current(*this);
    int idle = 0;
    if (const int code = services_.query(stream_, &idle); code != 0) return drained(code);
    if (idle != 0 && !set()) return Status::device_failed;
  }
  pending_ = false;
  return Status::ok;
}

std::optional<Status> Device::range(ConstSlice values, std::optional<double> fill, PackedBits bits,
                                    ValueRange& range) noexcept {
  api::DeviceRange& found = shared_->range;
  found = {};
  const int code = locked([&](void* stream) {
    return services_.range(values.data, values.count, static_cast<int>(values.type), fill ? &*fill : nullptr,
                           bits == PackedBits::exact, &found, stream);
  });
  if (needs_host(code)) return {};
  if (code != 0) return drained(code);
  if (const Status status = poll(found.done); status != Status::ok) return status;
  range = {found.least, found.greatest};
  return static_cast<Status>(found.status);
}

// ---- Devices

namespace {

// Returns Taut's own stream on a device. Throws Error.
void* own_stream_of(const api::DeviceServices& services, int number) {
  void* stream = nullptr;
  int before = 0;
  int code = services.use(number, &before);
  if (code == 0) {
    code = services.own_stream(&stream);
    services.use(before, &number);
  }
  if (code != 0) throw Error(static_cast<Status>(code), "no stream");
  return stream;
}

}  // namespace

// Devices with the former stream are of no more use.
void Devices::set_stream(void* stream) noexcept {
  if (stream == stream_) return;
  std::erase_if(devices_, [&](const auto& device) { return device->stream() == stream_; });
  stream_ = stream;
}

std::shared_ptr<Device> Devices::find(const api::DeviceServices& services, int number, bool own_stream) {
  void* const stream = own_stream ? own_stream_of(services, number) : stream_;
  for (const std::shared_ptr<Device>& device : devices_)
    if (device->number() == number && device->stream() == stream) return device;
  return devices_.emplace_back(std::make_shared<Device>(services, number, stream, keeps_frames_));
}

std::shared_ptr<Device> Devices::of(const void* in, const void* out, bool own_stream) noexcept {
  if (unusable_) return nullptr;
  const api::DeviceServices* services = nullptr;
  try {
    services = &api::device_services("the buffer");
  } catch (...) {
    unusable_ = true;
    return nullptr;
  }
  int number = -1;
  for (const void* const memory : {in, out}) {
    int here = -1;
    if (!on_device(memory)) continue;
    if (services->device_of(memory, &here) != 0 || (number >= 0 && number != here)) return nullptr;
    number = here;
  }
  try {
    return find(*services, number, own_stream);
  } catch (...) {  // no pinned memory, or no stream
    return nullptr;
  }
}

}  // namespace taut::gpu

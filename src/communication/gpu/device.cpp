#include "communication/gpu/device.hpp"

#include <algorithm>
#include <new>

#include "compressor/base/device_memory.hpp"

namespace taut::gpu {

static_assert(static_cast<int>(Status::device_failed) == TAUT_ERR_CUDA);

Device::Device(const DeviceServices& services, int number, void* stream, bool device_frames)
    : services_(services),
      number_(number),
      main_queue_{stream},
      frames_on_device_(device_frames),
      device_frames_(*this),
      range_buffer_(pinned_.scratch(sizeof(DeviceRange))),
      range_result_(new (range_buffer_.data()) DeviceRange{}) {
  // Lets TAUT_Cuda_release free the unused memory of all pools.
  [[maybe_unused]] static const bool once = (services.at_release(DevicePool::trim_all), true);
}

Device::~Device() {
  if (second_queue_.stream == nullptr) return;
  wait(second_queue_);
  services_.close_stream(second_queue_.stream);
}

Status Device::copy(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes == 0) return Status::ok;
  ++changes_;
  return status_after_drain(main_queue_, launch_on(main_queue_, [&](void* stream) {
                              return services_.copy_on(to, from, bytes, stream);
                            }));
}

Status Device::wait() noexcept {
  const Status status = wait(main_queue_), other = wait(second_queue_);
  return status != Status::ok ? status : other;
}

Status Device::wait(Queue& queue) noexcept {
  if (queue.done == queue.enqueued) return Status::ok;
  const CurrentDevice current(*this);
  const int code = current.code() != 0 ? current.code() : services_.wait(queue.stream);
  if (code == 0) queue.done = queue.enqueued;
  return status_of(code);
}

Status Device::status_after_drain(Queue& queue, int code) noexcept {
  if (code != 0) wait(queue);
  return status_of(code);
}

std::optional<Status> Device::poll(const std::uint32_t& done, Queue& queue, unsigned& polls) noexcept {
  constexpr unsigned reads = 256, polls_between_queries = 16;
  const auto set = [&] { return __atomic_load_n(&done, __ATOMIC_ACQUIRE) != 0; };
  for (unsigned i = 0; i < reads; ++i)
    if (set()) return Status::ok;
  if (++polls % polls_between_queries != 0) return {};
  const CurrentDevice current(*this);
  int idle = 0, code = current.code();
  if (code == 0) code = services_.query(queue.stream, &idle);
  if (code != 0) return status_after_drain(queue, code);
  if (idle != 0 && !set()) return Status::device_failed;
  return {};
}

// ---- Streams

bool Device::fork() noexcept {
  const CurrentDevice current(*this);
  if (current.code() != 0) return false;
  if (second_queue_.stream == nullptr && services_.open_stream(&second_queue_.stream) != 0) return false;
  if (services_.follow(second_queue_.stream, main_queue_.stream) != 0) return false;
  changes_at_fork_ = changes_;
  return true;
}

Device::Queue& Device::choose_queue(bool may_overlap) noexcept {
  if (!may_overlap || main_queue_.operations <= second_queue_.operations) return main_queue_;
  return changes_at_fork_ == changes_ || fork() ? second_queue_ : main_queue_;
}

// ---- Kernels of an operation

Kernels::Kernels(Device& device, std::size_t results, bool overlap)
    : device_(device),
      queue_(device.choose_queue(overlap)),
      memory_(device.pinned().scratch(results * sizeof(PolledResult))),
      results_(reinterpret_cast<PolledResult*>(memory_.data()), results) {
  ++queue_.operations;
  std::ranges::fill(results_, PolledResult{result_without_kernel(TAUT_ERR_CUDA_NEEDS_HOST), {}});
}

Kernels::~Kernels() {
  if (running_) device_.wait(queue_);  // the memory of the operation is freed next
  --queue_.operations;
}

Status Kernels::copy(void* to, const void* from, std::size_t bytes) noexcept {
  const int code = device_.launch_on(
      queue_, [&](void* stream) { return device_.services_.copy_on(to, from, bytes, stream); });
  note_work(code);
  return Device::status_of(code);
}

void Kernels::note_work(int code) noexcept {
  if (code != 0 && !Device::needs_host(code)) device_.status_after_drain(queue_, code);
  last_work_ = queue_.enqueued;
  running_ = true;
}

void Kernels::note_kernels(int code) noexcept {
  note_work(code);
  if (code == 0) polled_work_ = last_work_;
}

bool Kernels::ready() {
  for (; next_result_ < results_.size() && failure_ == Status::ok; ++next_result_) {
    const auto status = device_.poll(results_[next_result_].result.done, queue_, polls_);
    if (!status) return false;
    failure_ = *status;
  }
  if (failure_ == Status::ok) queue_.done = std::max(queue_.done, polled_work_);
  running_ = failure_ == Status::ok && polled_work_ < last_work_;
  return true;
}

std::optional<SizeOrStatus> Kernels::outcome(std::size_t i) const noexcept {
  const TAUT_Cuda_result& result = results_[i].result;
  if (failure_ != Status::ok) return SizeOrStatus{failure_};
  if (Device::needs_host(static_cast<int>(result.status))) return {};
  return SizeOrStatus{static_cast<Status>(result.status), static_cast<std::size_t>(result.bytes)};
}

std::optional<Status> Device::range(ConstSlice values, std::optional<double> fill, PackedBits bits,
                                    ValueRange& range) noexcept {
  DeviceRange& found = *range_result_;
  found = {};
  const int code = launch_on(main_queue_, [&](void* stream) {
    return services_.range(values.data, values.count, static_cast<int>(values.type), fill ? &*fill : nullptr,
                           bits == PackedBits::exact, &found, stream);
  });
  if (needs_host(code)) return {};
  if (code != 0) return status_after_drain(main_queue_, code);
  unsigned polls = 0;
  std::optional<Status> status;
  while (!(status = poll(found.done, main_queue_, polls))) continue;
  if (*status != Status::ok) return *status;
  main_queue_.done = main_queue_.enqueued;
  range = {found.least, found.greatest};
  return static_cast<Status>(found.status);
}

// ---- Devices

namespace {

// Returns Taut's own stream on a device. Throws Error.
void* own_stream_of(const DeviceServices& services, int number) {
  void* stream = nullptr;
  const CurrentDevice current(services, number);
  check(services, services.own_stream(&stream));
  return stream;
}

}  // namespace

// Drops the devices with the former stream: a later call on it makes new ones.
void Devices::set_stream(void* stream) noexcept {
  if (stream == stream_) return;
  std::erase_if(devices_, [&](const auto& device) { return device->stream() == stream_; });
  stream_ = stream;
}

DeviceFrames* Devices::frames_at(const std::byte* device) const noexcept {
  for (const std::shared_ptr<Device>& one : devices_)
    if (one->device_frames().host_address(device) != nullptr) return &one->device_frames();
  return nullptr;
}

std::shared_ptr<Device> Devices::find(const DeviceServices& services, int number, bool own_stream) {
  void* const stream = own_stream ? own_stream_of(services, number) : stream_;
  for (const std::shared_ptr<Device>& device : devices_)
    if (device->number() == number && device->stream() == stream) return device;
  return devices_.emplace_back(std::make_shared<Device>(services, number, stream, frames_on_device_));
}

std::shared_ptr<Device> Devices::holding(const void* in, const void* out, bool own_stream) noexcept {
  if (unusable_) return nullptr;
  const DeviceServices* services = nullptr;
  try {
    services = &device_services("the buffer");
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

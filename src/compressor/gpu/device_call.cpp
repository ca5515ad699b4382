#include "compressor/gpu/device_call.hpp"

#include <cstdint>

#include "compressor/base/device_memory.hpp"

namespace taut::gpu {
namespace {

thread_local void* stream_of_thread = nullptr;

}  // namespace

void DeviceCall::use_stream(void* stream) noexcept { stream_of_thread = stream; }

DeviceCall::DeviceCall(const void* memory, const char* argument)
    : services_(device_services(argument)), stream_(stream_of_thread) {
  check(services_.device_of(memory, &device_));
  check(services_.set_device(device_, &device_before_));
}

// Waits, because kernels may still use the memory after an error.
DeviceCall::~DeviceCall() {
  if (!device_memory_.empty()) services_.wait(stream_);
  for (void* const memory : device_memory_) services_.free(memory, MemoryKind::pooled);
  services_.set_device(device_before_, &device_);
}

void DeviceCall::check(int status) const {
  if (status == 0) return;
  if (status != TAUT_ERR_CUDA)
    throw Error(static_cast<Status>(status), describe(static_cast<Status>(status)));
  throw Error(Status::internal, std::string("CUDA reports an error: ") + services_.last_error());
}

// Returns true if kernels of the call can use `memory`: on their device, and aligned.
bool DeviceCall::usable_by_kernels(const void* memory, std::size_t alignment) const {
  int device = -1;
  if (!on_device(memory) || reinterpret_cast<std::uintptr_t>(memory) % alignment != 0) return false;
  check(services_.device_of(memory, &device));
  return device == device_;
}

void* DeviceCall::allocate(std::size_t bytes) {
  void* memory = nullptr;
  device_memory_.reserve(device_memory_.size() + 1);  // push_back() cannot throw then
  check(services_.allocate(&memory, bytes, MemoryKind::pooled));
  device_memory_.push_back(memory);
  return memory;
}

void DeviceCall::copy(void* to, const void* from, std::size_t bytes) const {
  if (to == from || bytes == 0) return;
  if (stream_ == nullptr) return check(services_.copy(to, from, bytes));
  check(services_.copy_on(to, from, bytes, stream_));
  check(services_.wait(stream_));
}

ConstBytes DeviceCall::for_host(ConstBytes bytes) {
  if (!on_device(bytes.data())) return bytes;
  host_memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes.size()));
  copy(host_memory_.back().get(), bytes.data(), bytes.size());
  return {host_memory_.back().get(), bytes.size()};
}

ConstBytes DeviceCall::for_device(ConstBytes bytes, std::size_t alignment) {
  if (usable_by_kernels(bytes.data(), alignment)) return bytes;
  void* const there = allocate(bytes.size());
  copy(there, bytes.data(), bytes.size());
  return {static_cast<std::byte*>(there), bytes.size()};
}

Bytes DeviceCall::room_on_host(Bytes out) {
  if (!on_device(out.data())) return out;
  host_memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(out.size()));
  return {host_memory_.back().get(), out.size()};
}

Bytes DeviceCall::room_on_device(Bytes out, std::size_t alignment) {
  if (usable_by_kernels(out.data(), alignment)) return out;
  return {static_cast<std::byte*>(allocate(out.size())), out.size()};
}

}  // namespace taut::gpu

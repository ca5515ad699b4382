#include "api/device_call.hpp"

#include <cstdint>

#include "core/device_memory.hpp"

namespace taut::api {
namespace {

bool aligned(const void* at, std::size_t to) { return reinterpret_cast<std::uintptr_t>(at) % to == 0; }

}  // namespace

DeviceCall::DeviceCall(const void* memory, const char* argument) : services_(device_services(argument)) {
  check(services_.enter(memory, &device_before_));
}

DeviceCall::~DeviceCall() {
  for (void* const memory : on_device_) services_.free(memory);
  services_.leave(device_before_);
}

void DeviceCall::check(int status) const {
  if (status == 0) return;
  if (status != TAUT_ERR_CUDA)
    throw Error(static_cast<Status>(status), describe(static_cast<Status>(status)));
  throw Error(Status::internal, std::string("CUDA reports an error: ") + services_.why());
}

void* DeviceCall::allocate(std::size_t bytes) {
  void* memory = nullptr;
  on_device_.reserve(on_device_.size() + 1);
  check(services_.allocate(&memory, bytes));
  on_device_.push_back(memory);
  return memory;
}

void DeviceCall::copy(void* to, const void* from, std::size_t bytes) const {
  if (to != from && bytes > 0) check(services_.copy(to, from, bytes));
}

ConstBytes DeviceCall::for_host(ConstBytes bytes) {
  if (!on_device(bytes.data())) return bytes;
  on_host_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes.size()));
  copy(on_host_.back().get(), bytes.data(), bytes.size());
  return {on_host_.back().get(), bytes.size()};
}

ConstBytes DeviceCall::for_device(ConstBytes bytes, std::size_t alignment) {
  if (on_device(bytes.data()) && aligned(bytes.data(), alignment)) return bytes;
  void* const there = allocate(bytes.size());
  copy(there, bytes.data(), bytes.size());
  return {static_cast<std::byte*>(there), bytes.size()};
}

Bytes DeviceCall::room_on_host(Bytes out) {
  if (!on_device(out.data())) return out;
  on_host_.push_back(std::make_unique_for_overwrite<std::byte[]>(out.size()));
  return {on_host_.back().get(), out.size()};
}

Bytes DeviceCall::room_on_device(Bytes out, std::size_t alignment) {
  if (on_device(out.data()) && aligned(out.data(), alignment)) return out;
  return {static_cast<std::byte*>(allocate(out.size())), out.size()};
}

}  // namespace taut::api

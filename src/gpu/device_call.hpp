// What a codec call needs around it where some of its memory is a GPU's.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/slice.hpp"
#include "core/status.hpp"
#include "gpu/device_services.hpp"

namespace taut::api {

// While it lives the thread's device is that of `memory`, and copies of the call's memory are kept on either
// side. Waits for whatever it puts on the device's default stream. Throws Error.
class DeviceCall {
 public:
  DeviceCall(const void* memory, const char* argument);
  DeviceCall(const DeviceCall&) = delete;
  ~DeviceCall();

  const DeviceServices& services() const { return services_; }

  // These bytes where the host can read them, or the device, aligned so: themselves, or a copy.
  ConstBytes for_host(ConstBytes bytes);
  ConstBytes for_device(ConstBytes bytes, std::size_t alignment);

  // Room for what becomes the first bytes of `out`, of its size: `out` itself, or memory from which copy()
  // takes them.
  Bytes room_on_host(Bytes out);
  Bytes room_on_device(Bytes out, std::size_t alignment);

  // Nothing where both are the same.
  void copy(void* to, const void* from, std::size_t bytes) const;
  void wait(void* stream) const { check(services_.wait(stream)); }

  // What kernels come to that launch(result) puts on the stream: a status beside those of taut_cuda.h is
  // thrown.
  template <class Launch>
  TAUT_Cuda_result run(const Launch& launch) {
    auto* const there = static_cast<TAUT_Cuda_result*>(allocate(sizeof(TAUT_Cuda_result)));
    TAUT_Cuda_result result{};
    const std::lock_guard lock(one_at_a_time_);
    const int status = launch(there);
    result.status = static_cast<std::uint32_t>(status);
    if (status == TAUT_ERR_CUDA) check(status);
    if (status == 0) copy(&result, there, sizeof result);
    return result;
  }

 private:
  // Kernels of calls that several threads put on one stream would come between each other, and share scratch
  // memory.
  static inline std::mutex one_at_a_time_;

  void check(int status) const;
  void* allocate(std::size_t bytes);
  bool on_this_device(const void* memory, std::size_t alignment) const;

  const DeviceServices& services_;
  int device_ = 0, device_before_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> on_host_;
  std::vector<void*> on_device_;
};

}  // namespace taut::api

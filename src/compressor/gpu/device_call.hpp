// A codec call of the host's interface (TAUT_Encode, TAUT_Decode) on device memory: sets the current device,
// and copies the call's memory where it is needed.
#pragma once

#include <memory>
#include <vector>

#include "compressor/base/status.hpp"
#include "compressor/gpu/device_services.hpp"
#include "compressor/values/slice.hpp"

namespace taut::gpu {

// Scope of a codec call on device memory. While the object exists, the thread's current device is the device
// of `memory`, and the object owns the copies of the call's memory on host and device. Members wait for all
// work that they put on the call's stream: the legacy default stream, or the one that use_stream() has set
// for the thread. The constructor and the members throw Error.
class DeviceCall {
 public:
  DeviceCall(const void* memory, const char* argument);
  DeviceCall(const DeviceCall&) = delete;
  ~DeviceCall();

  // Sets the stream of this thread's later calls. Null: the legacy default stream.
  static void use_stream(void* stream) noexcept;

  const DeviceServices& services() const { return services_; }
  void* stream() const { return stream_; }

  // Return `bytes` where the host, or the device, can read them, aligned as requested: the caller's memory
  // itself or a copy.
  ConstBytes for_host(ConstBytes bytes);
  ConstBytes for_device(ConstBytes bytes, std::size_t alignment);

  // Return memory of the size of `out` for the result: `out` itself, or memory from which the caller copies
  // the result to `out` by copy().
  Bytes room_on_host(Bytes out);
  Bytes room_on_device(Bytes out, std::size_t alignment);

  // Copies `bytes` bytes. Does nothing if `to` equals `from`.
  void copy(void* to, const void* from, std::size_t bytes) const;
  void wait(void* stream) const { check(services_.wait(stream)); }

  // Runs launch(result), which puts kernels on the stream, and returns the result of the kernels. Throws
  // Error if CUDA reports an error; any other status of launch() is returned in the result.
  template <class Result = TAUT_Cuda_result, class Launch>
  Result run(const Launch& launch) {
    auto* const there = static_cast<Result*>(allocate(sizeof(Result)));
    Result result{};
    const int status = launch(there);
    result.status = static_cast<std::uint32_t>(status);
    if (status == TAUT_ERR_CUDA) check(status);
    if (status == 0) copy(&result, there, sizeof result);
    return result;
  }

 private:
  void check(int status) const;
  void* allocate(std::size_t bytes);
  bool usable_by_kernels(const void* memory, std::size_t alignment) const;

  const DeviceServices& services_;
  void* stream_;
  int device_ = 0, device_before_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> host_memory_;
  std::vector<void*> device_memory_;
};

}  // namespace taut::gpu

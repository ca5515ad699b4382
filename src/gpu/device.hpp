// A GPU as the calls of one communicator use it: a stream, pools of memory, and the way to wait for kernels.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/value_range.hpp"
#include "gpu/device_frames.hpp"
#include "gpu/device_pools.hpp"
#include "gpu/device_services.hpp"

namespace taut::gpu {

// For one thread at a time. Members set the thread's current device while they run.
class Device {
 public:
  // `frames_there`: frames are in memory of the GPU.
  Device(const api::DeviceServices& services, int number, void* stream, bool frames_there = false);
  Device(const Device&) = delete;

  int number() const noexcept { return number_; }
  void* stream() const noexcept { return stream_; }
  const api::DeviceServices& services() const noexcept { return services_; }
  PinnedPlace& pinned() noexcept { return pinned_; }
  DevicePlace& memory() noexcept { return memory_; }
  DeviceFrames& frames_there() noexcept { return frames_there_; }
  bool keeps_frames() const noexcept { return keeps_frames_; }
  // Returns the place of the frames of calls.
  Place& frames() noexcept { return keeps_frames_ ? static_cast<Place&>(frames_there_) : pinned_; }

  // Scope in which the device is the thread's current device.
  class Current {
   public:
    explicit Current(const Device& device) noexcept;
    Current(const Current&) = delete;
    ~Current();

   private:
    const Device& device_;
    int before_ = -1;
  };

  // Enqueues a copy. The host must not change or reuse host memory before wait(), or before a later run() has
  // returned.
  Status copy(void* to, const void* from, std::size_t bytes) noexcept;
  // Waits for all enqueued work, if there is any for which no run() has waited. A wait that fails is
  // repeated: if the error persists, it is a fault of the device, on which nothing runs any more.
  Status wait() noexcept;

  // Runs launch(stream), which enqueues work without a result. Returns nothing if no kernel does the work.
  template <class Launch>
  std::optional<Status> enqueue(const Launch& launch) noexcept {
    const int code = locked(launch);
    return needs_host(code) ? std::nullopt : std::optional(drained(code));
  }

  // Runs launch(result, stream), which enqueues kernels, and polls until they have written their result.
  // Returns the result, or nothing if no kernel does the work.
  template <class Launch>
  std::optional<Sized> run(const Launch& launch) noexcept {
    TAUT_Cuda_result* const result = &shared_->result;
    *result = {};
    const int code = locked([&](void* stream) { return launch(result, stream); });
    if (code != 0) return needs_host(code) ? std::nullopt : std::optional(Sized{drained(code)});
    if (const Status status = poll(result->done); status != Status::ok) return Sized{status};
    if (needs_host(static_cast<int>(result->status))) return {};
    return Sized{static_cast<Status>(result->status), static_cast<std::size_t>(result->bytes)};
  }

  // Finds the range of values as range_of() does. Returns nothing if no kernel does the work.
  std::optional<Status> range(ConstSlice values, std::optional<double> fill, PackedBits bits,
                              ValueRange& range) noexcept;

 private:
  // Results of kernels, in pinned memory.
  struct Shared {
    TAUT_Cuda_result result;
    api::DeviceRange range;
  };

  static bool needs_host(int code) noexcept {
    return code == TAUT_ERR_CUDA_NEEDS_HOST || code == static_cast<int>(Status::invalid_count);
  }
  static Status status_of(int code) noexcept { return static_cast<Status>(code); }

  template <class Launch>
  int locked(const Launch& launch) noexcept {
    const Current current(*this);
    const std::lock_guard lock(api::launching);
    pending_ = true;
    return launch(stream_);
  }
  Status poll(const std::uint32_t& done) noexcept;
  // Returns the status of a call. If the call failed, waits first for the work that was enqueued before: it
  // may still access the memory that the caller is about to free.
  Status drained(int code) noexcept;

  const api::DeviceServices& services_;
  int number_;
  void* stream_;
  bool pending_ = false;  // work may be enqueued for which the host has not waited
  bool keeps_frames_;
  PinnedPlace pinned_;
  DevicePlace memory_;
  DeviceFrames frames_there_;
  Buffer shared_memory_;
  Shared* shared_;
};

// The GPUs that hold values of a communicator's calls.
class Devices {
 public:
  // Sets the stream of later calls.
  void set_stream(void* stream) noexcept;
  void* stream() const noexcept { return stream_; }
  // Keeps the frames of all calls on the GPU. Must not change once there was a call.
  void keep_frames() noexcept { keeps_frames_ = true; }

  // Returns the GPU that holds the operands of a call, at least one of which is on a GPU. Returns null if the
  // operands are on several GPUs, or if kernels cannot be used in this process. `own_stream`: the call works
  // on Taut's own stream, not on that of set_stream().
  std::shared_ptr<Device> of(const void* in, const void* out, bool own_stream = false) noexcept;

 private:
  std::shared_ptr<Device> find(const api::DeviceServices& services, int number, bool own_stream);

  void* stream_ = nullptr;
  bool keeps_frames_ = false;
  bool unusable_ = false;  // libtaut_cuda or a device is missing
  std::vector<std::shared_ptr<Device>> devices_;
};

}  // namespace taut::gpu

// Order between calls and CUDA streams: calls that wait for streams, and streams that wait for calls.
#pragma once

#include <cstdint>

#include "communication/team/task.hpp"
#include "compressor/base/status.hpp"
#include "compressor/gpu/device_services.hpp"

namespace taut::gpu {

// A point in a stream: ready once all work that was enqueued before it is done. Each ready() queries CUDA.
class StreamPoint final : public Waitable {
 public:
  // The point follows all work that is on the stream now. `stream`: of the thread's current device. Waits for
  // that work only if CUDA cannot mark the point.
  StreamPoint(const DeviceServices& services, void* stream) noexcept;
  StreamPoint(const StreamPoint&) = delete;
  ~StreamPoint();

  bool ready() override;
  // Returns the status of the work, once the point is ready.
  Status result() const noexcept { return status_; }

 private:
  void forget_event() noexcept;

  const DeviceServices& services_;
  void* event_ = nullptr;  // null: the point is reached
  int failures_ = 0;
  Status status_ = Status::ok;
};

// Counter in pinned memory, which the host increments. Streams wait for its values.
class HostCounter {
 public:
  explicit HostCounter(const DeviceServices& services);  // throws Error
  HostCounter(const HostCounter&) = delete;
  ~HostCounter();

  std::uint32_t value() const noexcept { return __atomic_load_n(word_, __ATOMIC_ACQUIRE); }
  void increment() noexcept { __atomic_fetch_add(word_, 1, __ATOMIC_ACQ_REL); }

  // Makes later work of a stream of the current device wait until the counter has reached `value`.
  Status block(void* stream, std::uint32_t value) const noexcept {
    return static_cast<Status>(services_.wait_for_word(word_, value, stream));
  }

 private:
  const DeviceServices& services_;
  std::uint32_t* word_;
};

}  // namespace taut::gpu

// Order between calls and CUDA streams: StreamPoint lets a call wait for a stream, HostCounter a stream for
// calls.
#pragma once

#include <cstdint>

#include "communication/team/task.hpp"
#include "compressor/base/status.hpp"
#include "compressor/gpu/device_services.hpp"

namespace taut::gpu {

// A point in a stream: ready once all work that was enqueued before it is done. Each ready() queries CUDA.
class StreamPoint final : public Waitable {
 public:
  // Marks the point after all work that is on the stream now. The stream belongs to the thread's current
  // device. If CUDA cannot mark the point, waits for that work.
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
  int failures_ = 0;       // queries in a row that failed
  Status status_ = Status::ok;
};

// Counter in pinned memory. The host increments it, and streams wait until it has a value.
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

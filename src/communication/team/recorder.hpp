// Recorder of the latest events of this process, for traces.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "communication/team/phase_times.hpp"

namespace taut {

// Event: a phase from begin to end, in nanoseconds of clock_now().
struct Event {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t bytes = 0;  // bytes of the values; of the awaited frames (wait); of the message (call)
  std::uint32_t call = 0;   // number of the call in this process
  Phase phase = Phase::call;
  std::uint8_t slot = 0;  // different for calls in flight at the same time
  std::uint8_t segment = 0;
  std::uint32_t kind = 0;      // Call::kind()
  const void* site = nullptr;  // call site; null: unknown
};

class Recorder;

// Identity of the call that events belong to. Without a recorder no events are made.
struct CallTag {
  Recorder* recorder = nullptr;
  std::uint32_t call = 0;
  std::uint8_t slot = 0;
  std::uint32_t kind = 0;
  const void* site = nullptr;

  void add(Phase phase, int segment, std::uint64_t begin, std::uint64_t end,
           std::size_t bytes) const noexcept;
};

// Ring buffer of events: the newest event replaces the oldest. For any number of threads.
class Recorder {
 public:
  static constexpr std::size_t usual_capacity = std::size_t{1} << 16;  // events, of 48 bytes

  // If memory lacks, the recorder holds no events and all are lost.
  explicit Recorder(std::size_t capacity = usual_capacity) noexcept;

  void add(const Event& event) noexcept;

  // open() at the start of each call, close() at its end.
  CallTag open(std::uint32_t kind, const void* site = nullptr) noexcept;
  void close(const CallTag& tag) noexcept;

  std::uint64_t lost() const noexcept;  // events that were overwritten, or had no room

  // Calls f for each event that is left, in the order in which the events ended.
  template <class F>
  void for_each(F f) const {
    const std::lock_guard lock(mutex_);
    for (std::uint64_t i = added_ - kept(); i < added_; ++i) f(ring_[i % capacity_]);
  }

 private:
  std::uint64_t kept() const noexcept { return added_ < capacity_ ? added_ : capacity_; }

  mutable std::mutex mutex_;
  std::unique_ptr<Event[]> ring_;
  std::size_t capacity_;
  std::uint64_t added_ = 0;
  std::uint64_t open_slots_ = 0;  // bit s: slot s is in use
  std::uint32_t calls_ = 0;
};

inline void CallTag::add(Phase phase, int segment, std::uint64_t begin, std::uint64_t end,
                         std::size_t bytes) const noexcept {
  if (recorder != nullptr)
    recorder->add({begin, end, bytes, call, phase, slot, static_cast<std::uint8_t>(segment), kind, site});
}

}  // namespace taut

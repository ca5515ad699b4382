// The last events of this process, for traces: what it did when.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "core/phase_times.hpp"

namespace taut {

// A verb from begin to end, in nanoseconds of clock_now().
struct Event {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t bytes = 0;  // of the values of a verb, of the frames that a wait was for, of a call's message
  std::uint32_t call = 0;   // counts the calls of this process
  Phase phase = Phase::call;
  std::uint8_t slot = 0;  // calls that are under way at the same time have different ones
  std::uint8_t segment = 0;
  std::uint32_t kind = 0;  // Call::kind()
};

class Recorder;

// A call that events belong to; without a recorder none are made.
struct CallTag {
  Recorder* recorder = nullptr;
  std::uint32_t call = 0;
  std::uint8_t slot = 0;
  std::uint32_t kind = 0;

  void add(Phase phase, int segment, std::uint64_t begin, std::uint64_t end,
           std::size_t bytes) const noexcept;
};

// A ring: the newest event takes the place of the oldest. For any number of threads.
class Recorder {
 public:
  static constexpr std::size_t usual_capacity = std::size_t{1} << 16;  // events, of 40 bytes

  // Where memory lacks it holds none, and all are lost.
  explicit Recorder(std::size_t capacity = usual_capacity) noexcept;

  void add(const Event& event) noexcept;

  // Around each call.
  CallTag open(std::uint32_t kind) noexcept;
  void close(const CallTag& tag) noexcept;

  std::uint64_t lost() const noexcept;  // events that were overwritten, or had no room

  // Each event that is left, in the order of their ends.
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
  std::uint64_t open_slots_ = 0;  // a bit each
  std::uint32_t calls_ = 0;
};

inline void CallTag::add(Phase phase, int segment, std::uint64_t begin, std::uint64_t end,
                         std::size_t bytes) const noexcept {
  if (recorder != nullptr)
    recorder->add({begin, end, bytes, call, phase, slot, static_cast<std::uint8_t>(segment), kind});
}

}  // namespace taut

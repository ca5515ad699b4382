// Recorder of the latest events of this process, for traces.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "compressor/base/status.hpp"

namespace taut {

// Phase of a call, to which a rank's time is added.
enum class Phase : std::uint8_t {
  encode,
  combine,  // adding frames, or operands to values
  decode,
  wait,   // waiting for messages: all time of a compressed call outside the other phases
  agree,  // agreement, with planning, samples and memory
  plain,  // in plain MPI
  call    // the whole call
};
inline constexpr std::size_t phases = 7;

constexpr const char* name_of(Phase phase) noexcept {
  constexpr const char* names[phases] = {"encode", "combine", "decode", "wait", "agree", "plain", "call"};
  return names[static_cast<std::size_t>(phase)];
}

// Nanoseconds by phase. `call` is the sum of the others.
class PhaseTimes {
 public:
  std::uint64_t& operator[](Phase phase) noexcept { return of_[static_cast<std::size_t>(phase)]; }
  std::uint64_t operator[](Phase phase) const noexcept { return of_[static_cast<std::size_t>(phase)]; }
  PhaseTimes& operator+=(const PhaseTimes& other) noexcept {
    for (std::size_t i = 0; i < phases; ++i) of_[i] += other.of_[i];
    return *this;
  }

 private:
  std::array<std::uint64_t, phases> of_{};
};

constexpr double seconds(std::uint64_t nanoseconds) noexcept {
  return static_cast<double>(nanoseconds) * 1e-9;
}

// Returns the nanoseconds of a monotonic clock. A reading takes some 30 ns: measure whole operations, not
// parts of an operation.
inline std::uint64_t clock_now() noexcept {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

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

// Record of one running call on one rank: its first failure, encodings, bytes and times.
struct CallCounters {
  Status status = Status::ok;  // the first failure
  std::uint64_t encodes = 0, combines = 0, decodes = 0;
  std::uint64_t value_bytes = 0, frame_bytes = 0;  // encoded values, and their frames
  std::uint64_t sent_messages = 0, sent_bytes = 0;
  std::uint64_t carried_bytes = 0;  // bytes of values that the sent frames represent
  PhaseTimes times;
  CallTag tag;

  void note(Status failure) noexcept {
    if (status == Status::ok) status = failure;
  }
  void sent(std::size_t bytes, std::size_t carried) noexcept {
    ++sent_messages;
    sent_bytes += bytes;
    carried_bytes += carried;
  }
  // Adds the time since `begin`. Time in which codec operations overlap counts once, for the operation that
  // completes first.
  void spent(Phase phase, int segment, std::uint64_t begin, std::size_t bytes) noexcept {
    const std::uint64_t end = clock_now();
    const bool coding = phase <= Phase::decode;
    times[phase] += end - (coding ? std::max(begin, coded_until) : begin);
    if (coding) coded_until = end;
    tag.add(phase, segment, begin, end, bytes);
  }

  std::uint64_t coded_until = 0;  // end of the last codec operation
};

}  // namespace taut

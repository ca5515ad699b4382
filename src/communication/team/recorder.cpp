#include "communication/team/recorder.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace taut {

Recorder::Recorder(std::size_t capacity) noexcept
    : ring_(new (std::nothrow) Event[capacity]), capacity_(ring_ != nullptr ? capacity : 0) {}

void Recorder::add(const Event& event) noexcept {
  const std::lock_guard lock(mutex_);
  if (capacity_ != 0) ring_[added_ % capacity_] = event;
  ++added_;
}

CallTag Recorder::open(std::uint32_t kind, const void* site) noexcept {
  const std::lock_guard lock(mutex_);
  const int slot = std::min(std::countr_one(open_slots_), 63);  // the last slot is shared if all are in use
  open_slots_ |= std::uint64_t{1} << slot;
  return {this, calls_++, static_cast<std::uint8_t>(slot), kind, site};
}

void Recorder::close(const CallTag& tag) noexcept {
  const std::lock_guard lock(mutex_);
  open_slots_ &= ~(std::uint64_t{1} << tag.slot);
}

std::uint64_t Recorder::lost() const noexcept {
  const std::lock_guard lock(mutex_);
  return added_ - kept();
}

}  // namespace taut

// Window on the values of a frame: the current chunk, and as many earlier values as the lags reach back. T is
// the type of a value, or std::byte if `chunk_values` and all counts are in bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace taut {

template <class T, std::size_t chunk_values>
class LagWindow {
 public:
  LagWindow() = default;

  // Makes a window for a frame of `count` values. `span`: the number of earlier values, the sum of the lags.
  // The memory holds `spans` times as many new values; when it is full, the last `span` values are moved to
  // its front. Allocates less than 3 `count` values and a few chunks; throws std::bad_alloc.
  LagWindow(std::size_t span, std::size_t count, std::size_t spans = 1) : span_(span) {
    constexpr std::size_t min_ahead = 16 * chunk_values;
    const std::size_t whole = (count + chunk_values - 1) / chunk_values * chunk_values;
    const std::size_t ahead =
        std::min(whole, std::max(min_ahead, spans * span_ / chunk_values * chunk_values));
    memory_ = std::make_unique_for_overwrite<T[]>(span_ + ahead + line);
    const auto place = reinterpret_cast<std::uintptr_t>(memory_.get() + span_);
    next_ = first_ = memory_.get() + span_ + (line - place / sizeof(T) % line) % line;
    end_ = first_ + ahead;
    std::fill(first_ - span_, first_, T{});
  }

  bool any() const noexcept { return memory_ != nullptr; }  // false after the default constructor

  // Returns the memory for the values of the next chunk. The earlier values are stored before it.
  T* next() noexcept {
    if (next_ == end_) {
      std::copy(next_ - span_, next_, first_ - span_);
      next_ = first_;
    }
    next_ += chunk_values;
    return next_ - chunk_values;
  }

 private:
  static constexpr std::size_t line = 64 / sizeof(T);  // values in a cache line, to which chunks are aligned

  std::unique_ptr<T[]> memory_;
  T *first_ = nullptr, *next_ = nullptr, *end_ = nullptr;  // first, next and end of the memory of chunks
  std::size_t span_ = 0;
};

}  // namespace taut

// Window on the integers of a frame: the current chunk, and as many earlier integers as the lags reach back.
#pragma once

#include <algorithm>
#include <memory>

#include "codecs/planes/lags/lags.hpp"

namespace taut::planes {

class LagWindow {
 public:
  LagWindow() = default;

  // Window for a frame of `count` values. Allocates less than 3 `count` integers and a few chunks; throws
  // std::bad_alloc.
  LagWindow(const Lags& lags, std::size_t count) : span_(lags.span()) {
    constexpr std::size_t usual = 16 * chunk_values;
    const std::size_t whole = chunks_of(count) * chunk_values;
    const std::size_t ahead = std::min(whole, std::max(usual, span_ / chunk_values * chunk_values));
    memory_ = std::make_unique_for_overwrite<std::int32_t[]>(span_ + ahead + line);
    const auto place = reinterpret_cast<std::uintptr_t>(memory_.get() + span_);
    next_ = first_ = memory_.get() + span_ + (line - place / sizeof(std::int32_t) % line) % line;
    end_ = first_ + ahead;
    std::fill(first_ - span_, first_, 0);
  }

  bool any() const noexcept { return memory_ != nullptr; }

  // Returns the memory for the integers of the next chunk. The earlier integers are stored before it.
  std::int32_t* next() noexcept {
    if (next_ == end_) {
      std::memmove(first_ - span_, next_ - span_, span_ * sizeof *next_);
      next_ = first_;
    }
    next_ += chunk_values;
    return next_ - chunk_values;
  }

 private:
  static constexpr std::size_t line = 16;  // integers

  std::unique_ptr<std::int32_t[]> memory_;
  std::int32_t *first_ = nullptr, *next_ = nullptr, *end_ = nullptr;
  std::size_t span_ = 0;
};

}  // namespace taut::planes

// The integers of a frame, chunk by chunk, with as many of those before at hand as its lags reach back to.
#pragma once

#include <algorithm>
#include <memory>

#include "codecs/planes/lags/lags.hpp"

namespace taut::planes {

class LagWindow {
 public:
  LagWindow() = default;

  // For a frame of `count` values. Takes memory for less than 3 `count` integers and a few chunks; throws
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

  // Where the integers of the next chunk belong; those before stand in front of it.
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

// Reader of a fuzz target's input. After its end the input continues with zeros.
#pragma once

#include <cstring>

#include "compressor/values/slice.hpp"

namespace taut::fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const std::byte*>(data), size) {}

  template <class T>
  T take() noexcept {
    T value{};
    const std::size_t n = std::min(sizeof value, rest_.size());
    if (n > 0) std::memcpy(&value, rest_.data(), n);
    rest_ = rest_.subspan(n);
    return value;
  }
  ConstBytes rest() const noexcept { return rest_; }

 private:
  ConstBytes rest_;
};

}  // namespace taut::fuzz

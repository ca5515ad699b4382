// Memory of exactly the bytes that were asked for: an access behind its end ends the program. Under
// AddressSanitizer the memory is on the heap, where such accesses are reported. Elsewhere the bytes end at an
// inaccessible page, in mappings that are used again.
#pragma once

#include <utility>

#include "compressor/values/slice.hpp"

namespace taut::fuzz {

class ExactMemory {
 public:
  explicit ExactMemory(std::size_t bytes);
  ~ExactMemory();
  ExactMemory(ExactMemory&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), mapping_(std::exchange(other.mapping_, nullptr)) {}
  ExactMemory& operator=(ExactMemory&&) = delete;

  std::byte* data() const noexcept { return bytes_.data(); }
  std::size_t size() const noexcept { return bytes_.size(); }
  Bytes bytes() const noexcept { return bytes_; }

 private:
  Bytes bytes_;
  std::byte* mapping_ = nullptr;  // null: on the heap
};

}  // namespace taut::fuzz

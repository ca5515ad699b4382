// Holds the library to the memory that a receiver has posted: while a MemoryLimit lives, the bytes that are
// taken and not yet given back stay within it; more is a finding. Enforced where AddressSanitizer tells of
// allocations.
#pragma once

#include <cstddef>

namespace taut::fuzz {

class MemoryLimit {
 public:
  explicit MemoryLimit(std::size_t bytes) noexcept;
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
};

// What a call may take for `posted` bytes of frames and values: as much again, and scratch of fixed size.
constexpr std::size_t scratch_for(std::size_t posted) noexcept { return 2 * posted + (std::size_t{1} << 20); }

}  // namespace taut::fuzz

// A limit on the memory that the library takes. While a MemoryLimit exists, the bytes allocated and not yet
// freed must stay below the limit; more is a finding. It is enforced where AddressSanitizer reports
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

// Memory that a call may take for `posted` bytes of frames and values: twice as much, and scratch of fixed
// size.
constexpr std::size_t scratch_for(std::size_t posted) noexcept { return 2 * posted + (std::size_t{1} << 20); }

}  // namespace taut::fuzz

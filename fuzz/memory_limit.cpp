#include "memory_limit.hpp"

#include <malloc.h>

#include <algorithm>
#include <limits>
#include <new>

#include "expect.hpp"

namespace {
constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
thread_local std::size_t taken = 0, limit = unlimited;

void* take(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  if (limit != unlimited) {
    taken += malloc_usable_size(memory);
    taut::fuzz::expect(taken <= limit, "memory is bounded by what the receiver posted");
  }
  return memory;
}
void give_back(void* memory) noexcept {
  if (limit != unlimited && memory != nullptr) taken -= std::min(taken, malloc_usable_size(memory));
  std::free(memory);
}
// Refused before the system is asked, so that a size that somebody sent is a finding and not a bad_alloc.
std::size_t checked(std::size_t bytes) noexcept {
  taut::fuzz::expect(limit == unlimited || bytes <= limit, "memory is bounded by what the receiver posted");
  return bytes > 0 ? bytes : 1;
}
}  // namespace

void* operator new(std::size_t bytes) { return take(std::malloc(checked(bytes))); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return take(std::aligned_alloc(unit, (checked(bytes) + unit - 1) / unit * unit));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }

namespace taut::fuzz {

MemoryLimit::MemoryLimit(std::size_t bytes) noexcept {
  taken = 0;
  limit = bytes;
}
MemoryLimit::~MemoryLimit() { limit = unlimited; }

}  // namespace taut::fuzz

// Replaces operator new and delete of a test program: they count, and fail when they are told to. To be
// included by one file of a program.
#pragma once

#include <cstdlib>
#include <limits>
#include <new>

namespace taut::test {

// Of this thread.
struct Allocations {
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  std::size_t made = 0, given_back = 0;
  std::size_t until_failure = never;  // 0: the next one fails, and every later one
};
inline thread_local Allocations allocations;

inline void* counted(void* (*take)(std::size_t, std::size_t), std::size_t bytes, std::size_t alignment) {
  if (allocations.until_failure == 0) throw std::bad_alloc();
  if (allocations.until_failure != Allocations::never) --allocations.until_failure;
  void* const memory = take(bytes > 0 ? bytes : 1, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  ++allocations.made;
  return memory;
}
inline void uncounted(void* memory) noexcept {
  allocations.given_back += memory != nullptr;
  std::free(memory);
}

}  // namespace taut::test

void* operator new(std::size_t bytes) {
  return taut::test::counted([](std::size_t n, std::size_t) { return std::malloc(n); }, bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return taut::test::counted(
      [](std::size_t n, std::size_t unit) { return std::aligned_alloc(unit, (n + unit - 1) / unit * unit); },
      bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { taut::test::uncounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { taut::test::uncounted(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { taut::test::uncounted(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { taut::test::uncounted(memory); }

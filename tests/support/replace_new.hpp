// Replaces operator new and delete of a test program: they count, and fail on demand. Include it in one file
// of a program.
#pragma once

#include <cstdlib>
#include <new>

#include "support/allocations.hpp"

namespace taut::test {

inline void* counted(void* (*take)(std::size_t, std::size_t), std::size_t bytes, std::size_t alignment) {
  ++allocations.asked;
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
inline void* plainly(std::size_t bytes) {
  return counted([](std::size_t n, std::size_t) { return std::malloc(n); }, bytes, 0);
}
inline void* aligned(std::size_t bytes, std::align_val_t alignment) {
  return counted(
      [](std::size_t n, std::size_t unit) { return std::aligned_alloc(unit, (n + unit - 1) / unit * unit); },
      bytes, static_cast<std::size_t>(alignment));
}
template <class Take>
void* or_null(Take take) noexcept {
  try {
    return take();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
}  // namespace taut::test

// All forms are replaced, so that no allocation is freed by another allocator.
void* operator new(std::size_t n) { return taut::test::plainly(n); }
void* operator new[](std::size_t n) { return taut::test::plainly(n); }
void* operator new(std::size_t n, std::align_val_t a) { return taut::test::aligned(n, a); }
void* operator new[](std::size_t n, std::align_val_t a) { return taut::test::aligned(n, a); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return taut::test::or_null([=] { return taut::test::plainly(n); });
}
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return taut::test::or_null([=] { return taut::test::plainly(n); });
}
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return taut::test::or_null([=] { return taut::test::aligned(n, a); });
}
void operator delete(void* memory) noexcept { taut::test::uncounted(memory); }
void operator delete[](void* memory) noexcept { taut::test::uncounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { taut::test::uncounted(memory); }
void operator delete[](void* memory, std::size_t) noexcept { taut::test::uncounted(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { taut::test::uncounted(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { taut::test::uncounted(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { taut::test::uncounted(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  taut::test::uncounted(memory);
}

#include "memory_limit.hpp"

#include <algorithm>
#include <limits>

#include "expect.hpp"

// declared in sanitizer/allocator_interface.h
extern "C" __attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(
    void (*on_malloc)(const volatile void*, std::size_t), void (*on_free)(const volatile void*));
extern "C" __attribute__((weak)) std::size_t __sanitizer_get_allocated_size(const volatile void*);

namespace taut::fuzz {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
thread_local std::size_t taken = 0, limit = unlimited;

void on_malloc(const volatile void*, std::size_t bytes) {
  if (limit == unlimited) return;
  taken += bytes;
  if (taken <= limit) return;
  limit = unlimited;
  expect(false, "memory is bounded by what the receiver posted");
}

void on_free(const volatile void* memory) {
  if (limit != unlimited && memory != nullptr)
    taken -= std::min(taken, __sanitizer_get_allocated_size(memory));
}

void install_hooks() noexcept {
  static const bool installed [[maybe_unused]] = [] {
    return __sanitizer_install_malloc_and_free_hooks != nullptr &&
           __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) != 0;
  }();
}

}  // namespace

MemoryLimit::MemoryLimit(std::size_t bytes) noexcept {
  install_hooks();
  taken = 0;
  limit = bytes;
}
MemoryLimit::~MemoryLimit() { limit = unlimited; }

}  // namespace taut::fuzz

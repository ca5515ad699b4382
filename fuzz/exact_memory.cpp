#include "exact_memory.hpp"

#include <sys/mman.h>

#include <new>
#include <vector>

extern "C" __attribute__((weak)) void __asan_init();

namespace taut::fuzz {
namespace {

constexpr std::size_t page = 4096, accessible = std::size_t{1} << 21;  // of a mapping, before its last page

std::vector<std::byte*>& unused() {
  static std::vector<std::byte*> mappings;
  return mappings;
}

std::byte* new_mapping() {
  void* const memory =
      mmap(nullptr, accessible + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mprotect(static_cast<std::byte*>(memory) + accessible, page, PROT_NONE);
  return static_cast<std::byte*>(memory);
}

}  // namespace

ExactMemory::ExactMemory(std::size_t bytes) {
  if (&__asan_init != nullptr || bytes > accessible) {
    bytes_ = {new std::byte[bytes], bytes};
    return;
  }
  if (unused().empty()) unused().push_back(new_mapping());
  mapping_ = unused().back();
  unused().pop_back();
  bytes_ = {mapping_ + accessible - bytes, bytes};
}

ExactMemory::~ExactMemory() {
  if (mapping_ != nullptr)
    unused().push_back(mapping_);
  else
    delete[] bytes_.data();
}

}  // namespace taut::fuzz

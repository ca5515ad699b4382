// Memory with an inaccessible page behind its end: any access beyond the end, also a read, ends the program,
// also in builds without a sanitizer. check() finds writes in front of the memory.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "compressor/values/slice.hpp"

namespace taut::test {

class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    open_ = (bytes + page) / page * page;  // at least one byte in front
    mapped_ = open_ + page;
    void* const memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(memory);
    mprotect(memory_ + open_, page, PROT_NONE);
    std::memset(memory_, pattern, open_);
  }
  explicit Guarded(ConstBytes content) : Guarded(content.size()) {
    if (!content.empty()) std::memcpy(bytes().data(), content.data(), content.size());
  }
  ~Guarded() { munmap(memory_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  Bytes bytes() const noexcept { return {memory_ + open_ - bytes_, bytes_}; }
  void fill(std::byte value) const noexcept { std::memset(bytes().data(), static_cast<int>(value), bytes_); }

  // Returns the last `n` bytes alone.
  Bytes last(std::size_t n) const noexcept { return bytes().last(n); }

  // Returns true if only the last `n` bytes have changed since forget(). Each byte is compared with the next
  // one.
  bool only_last_changed(std::size_t n) const noexcept {
    const std::size_t before = open_ - n;  // at least one
    return memory_[0] == std::byte{pattern} && std::memcmp(memory_, memory_ + 1, before - 1) == 0;
  }
  bool intact() const noexcept { return only_last_changed(bytes_); }
  void forget() const noexcept { std::memset(memory_, pattern, open_); }

 private:
  static constexpr unsigned char pattern = 0xA5;
  std::size_t bytes_, open_, mapped_;
  std::byte* memory_;
};

}  // namespace taut::test

// Memory of the GPU that tests simulate: access from the host ends the program (support/gpu_driver.h).
#pragma once

#include <cstring>
#include <new>
#include <vector>

#include "support/gpu_driver.h"

namespace taut::test {

template <class T>
class OnGpu {
 public:
  explicit OnGpu(std::size_t count, std::size_t skipped_bytes = 0, int device = 0)
      : count_(count),
        memory_(stand_in_allocate(count * sizeof(T) + skipped_bytes, device)),
        skipped_(skipped_bytes) {
    if (memory_ == nullptr) throw std::bad_alloc();
  }
  explicit OnGpu(const std::vector<T>& x, std::size_t skipped_bytes = 0, int device = 0)
      : OnGpu(x.size(), skipped_bytes, device) {
    stand_in_copy(data(), x.data(), x.size() * sizeof(T));
  }
  OnGpu(const OnGpu&) = delete;
  ~OnGpu() {
    stand_in_finish();
    stand_in_free(memory_);
  }

  // Returns the address behind the skipped bytes; with 0 skipped bytes it is aligned to 16.
  T* data() const { return reinterpret_cast<T*>(static_cast<std::byte*>(memory_) + skipped_); }
  std::size_t size() const { return count_; }

  // Returns the first `count` elements, once all work of the GPUs is done.
  std::vector<T> read(std::size_t count) const {
    stand_in_finish();
    return peek(count);
  }
  std::vector<T> read() const { return read(count_); }

  // Returns the first `count` elements as they are now: after calls that return when their result is there.
  std::vector<T> peek(std::size_t count) const {
    std::vector<T> here(count);
    stand_in_copy(here.data(), data(), count * sizeof(T));
    return here;
  }

 private:
  std::size_t count_;
  void* memory_;
  std::size_t skipped_;
};

}  // namespace taut::test

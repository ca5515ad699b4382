// Memory that a stand-in for CUDA's driver (gpu_driver.c) reports as GPU memory, and that the host cannot
// access.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

namespace taut::test {

// Makes the driver report a range as GPU memory while the object exists. One range at a time.
class SaidOfMemory {
 public:
  SaidOfMemory(const void* at, std::size_t bytes, bool managed = false) { say(at, bytes, managed); }
  SaidOfMemory(const SaidOfMemory&) = delete;
  ~SaidOfMemory() { say(nullptr, 0, false); }

 private:
  static void say(const void* at, std::size_t bytes, bool managed) {
    static void* const driver = dlopen(TAUT_STAND_IN_DRIVER, RTLD_LAZY | RTLD_LOCAL);
    void (*range)(const void*, std::size_t, int) = nullptr;
    if (driver != nullptr) *reinterpret_cast<void**>(&range) = dlsym(driver, "stand_in_range");
    if (range == nullptr) throw std::runtime_error(TAUT_STAND_IN_DRIVER " cannot be loaded");
    range(at, bytes, managed);
  }
};

class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        said_(data_, bytes) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~DeviceMemory() { munmap(data_, bytes_); }

  void* data() const noexcept { return data_; }

 private:
  std::size_t bytes_;
  void* data_;
  SaidOfMemory said_;
};

}  // namespace taut::test

// Launches of kernels on the shim, and memory for them.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "gpu/kernels/shim.hpp"

namespace taut {

class ShimLauncher {
 public:
  explicit ShimLauncher(shim::Gpu& gpu) : gpu_(gpu) {}

  template <class Kernel>
  void launch(unsigned blocks, const typename Kernel::Job& job) {
    gpu_.launch(blocks, Kernel::shape.threads, sizeof(typename Kernel::Shared),
                [&job](shim::Thread thread, std::byte* shared) {
                  Kernel::run(thread, *reinterpret_cast<typename Kernel::Shared*>(shared), job);
                });
  }

 private:
  shim::Gpu& gpu_;
};

// Memory that is exactly as long as asked for, aligned as a GPU's, filled with what must not matter.
class Room {
 public:
  explicit Room(std::size_t bytes, int fill = 0xC3)
      : bytes_(bytes), memory_(new std::byte[bytes == 0 ? 1 : bytes]) {
    std::memset(memory_.get(), fill, bytes);
  }
  std::byte* data() const { return memory_.get(); }
  std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace taut

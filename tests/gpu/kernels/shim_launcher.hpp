// Launches kernels on the shim, and provides memory for them.
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
    ++launches_;
    gpu_.launch(blocks, Kernel::shape.threads, sizeof(typename Kernel::Shared),
                [&job](shim::Thread thread, std::byte* shared) {
                  Kernel::run(thread, *reinterpret_cast<typename Kernel::Shared*>(shared), job);
                });
  }

  unsigned launches() const { return launches_; }

 private:
  shim::Gpu& gpu_;
  unsigned launches_ = 0;
};

// Memory of exactly the requested size, aligned as a GPU's, filled with bytes that must not affect results.
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

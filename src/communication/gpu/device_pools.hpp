// Pools of memory that a GPU works with.
#pragma once

#include "communication/team/place.hpp"

namespace taut::gpu {

class Device;

// Pool of memory that a GPU works with. TAUT_Cuda_release trims all pools.
class DevicePool : public PooledPlace {
 public:
  explicit DevicePool(Device& device, MessageMemory* message_memory = nullptr);
  ~DevicePool() override;

  // Trims all pools of this process, none of which is in use by another thread.
  static void trim_all() noexcept;

 protected:
  Device& device_;
};

// Host memory that the GPU can access at the same address: the memory of frames, unless they are on the GPU
// (DeviceFrames).
class PinnedPlace final : public DevicePool {
 public:
  using DevicePool::DevicePool;
  ~PinnedPlace() override { trim(); }

 private:
  std::byte* allocate(std::size_t bytes) noexcept override;
  void release(std::byte* data) noexcept override;
};

// Memory of the GPU.
class DevicePlace final : public DevicePool {
 public:
  using DevicePool::DevicePool;
  ~DevicePlace() override { trim(); }
  bool on_host() const noexcept override { return false; }

 private:
  std::byte* allocate(std::size_t bytes) noexcept override;
  void release(std::byte* data) noexcept override;
};

}  // namespace taut::gpu

// DeviceFrames is the place of frames whose bytes are on a GPU, for MPIs that read and write GPU memory.
#pragma once

#include <vector>

#include "communication/gpu/memory.hpp"
#include "compressor/frame/coding.hpp"

namespace taut::gpu {

// Each block of memory exists twice, with equal offsets: in pinned host memory, whose addresses callers use,
// and on the GPU. The head of each frame (its header, and the numbers of the states that it refers to) is in
// both; the rest is on the GPU only, except around upload() and download(). Messages are sent from and
// received into the memory of the GPU. The heads of frames that arrive are then copied to the host, unless
// the transport has brought the headers of frames without references.
class DeviceFrames final : public DevicePool, public MessageMemory {
 public:
  static constexpr std::size_t head_bytes = frame_header_bytes + max_references * sizeof(std::uint64_t);

  explicit DeviceFrames(Device& device) : DevicePool(device, MemoryKind::pinned, this) {}
  ~DeviceFrames() override { trim(); }

  // Returns the address on the GPU that belongs to an address on the host; null for other memory.
  std::byte* device_address(const std::byte* host) const noexcept;

  // Copy whole frames between the two memories, and wait. Do nothing for other memory.
  Status upload(ConstBytes frame) noexcept;
  Status download(ConstBytes frame) noexcept;
  // Returns the address on the host that belongs to an address on the GPU; null for other memory.
  std::byte* host_address(const std::byte* device) const noexcept;
  // Notes that the host has the headers of a message's frames, which refer to nothing. `message`: its address
  // on the host.
  void note_headers(const std::byte* message) { with_headers_.push_back(message); }

  // Copies a frame within this place: on the GPU, and its head also on the host.
  Status copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept override;
  ConstBytes outgoing(ConstBytes frames) noexcept override;
  Bytes incoming(Bytes room) noexcept override;
  Status arrived(Bytes message) noexcept override;

 private:
  struct MirroredBlock {
    std::byte* host;
    std::unique_ptr<MemoryBlock> device;
  };

  std::byte* allocate(std::size_t bytes) noexcept override;
  void release(std::byte* data) noexcept override;
  Status copy_and_wait(void* to, const void* from, std::size_t bytes) noexcept;

  std::vector<MirroredBlock> blocks_;
  std::vector<const std::byte*> with_headers_;  // messages whose headers the host has, until arrived()
};

}  // namespace taut::gpu

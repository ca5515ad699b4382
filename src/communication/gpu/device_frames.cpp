#include "communication/gpu/device_frames.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "communication/gpu/device.hpp"
#include "communication/team/frames.hpp"
#include "compressor/base/guarded.hpp"

namespace taut::gpu {

// ---- Blocks

std::byte* DeviceFrames::allocate(std::size_t bytes) noexcept {
  std::byte* const host = DevicePool::allocate(bytes);
  if (host == nullptr) return nullptr;
  const Status status = guarded([&] {
    const CurrentDevice current(device_.services(), device_.number());
    auto device = std::make_unique<MemoryBlock>(device_.services(), MemoryKind::plain);
    device->reserve(bytes);
    blocks_.push_back({host, std::move(device)});
  });
  if (status == Status::ok) return host;
  DevicePool::release(host);
  return nullptr;
}

void DeviceFrames::release(std::byte* data) noexcept {
  DevicePool::release(data);
  blocks_.erase(std::ranges::find(blocks_, data, &MirroredBlock::host));
}

std::byte* DeviceFrames::device_address(const std::byte* host) const noexcept {
  const std::less<const std::byte*> before;
  for (const MirroredBlock& block : blocks_)
    if (!before(host, block.host) && before(host, block.host + block.device->bytes()))
      return block.device->data() + (host - block.host);
  return nullptr;
}

std::byte* DeviceFrames::host_address(const std::byte* device) const noexcept {
  const std::less<const std::byte*> before;
  for (const MirroredBlock& block : blocks_)
    if (const std::byte* const at = block.device->data(); !before(device, at))
      if (before(device, at + block.device->bytes())) return block.host + (device - at);
  return nullptr;
}

// ---- Copies

Status DeviceFrames::copy_and_wait(void* to, const void* from, std::size_t bytes) noexcept {
  const Status status = device_.copy(to, from, bytes);
  return status == Status::ok ? device_.wait() : status;
}

Status DeviceFrames::upload(ConstBytes frame) noexcept {
  std::byte* const to = device_address(frame.data());
  return to == nullptr ? Status::ok : copy_and_wait(to, frame.data(), frame.size());
}

Status DeviceFrames::download(ConstBytes frame) noexcept {
  const std::byte* const from = device_address(frame.data());
  return from == nullptr ? Status::ok
                         : copy_and_wait(const_cast<std::byte*>(frame.data()), from, frame.size());
}

// Waits, because the memory of either frame may be used again on another stream.
Status DeviceFrames::copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::memmove(to, from, std::min(bytes, head_bytes));
  const std::less<const std::byte*> before;
  const bool overlap = before(to, from + bytes) && before(from, to + bytes);
  if (!overlap) return copy_and_wait(device_address(to), device_address(from), bytes);
  return guarded([&] {
    const Buffer between = device_.pooled().scratch(bytes);
    const Status status = device_.copy(between.data(), device_address(from), bytes);
    return status == Status::ok ? copy_and_wait(device_address(to), between.data(), bytes) : status;
  });
}

// ---- Messages

// The host writes error frames, which the GPU may lack.
ConstBytes DeviceFrames::outgoing(ConstBytes frames) noexcept {
  const std::byte* const from = device_address(frames.data());
  if (from == nullptr || frames.empty()) return frames;
  for (ConstBytes rest = frames; !rest.empty(); rest = rest.subspan(frame_size(rest))) {
    FrameHeader header;
    if (read_header(rest, header) != Status::ok) break;
    const bool is_error = header.has(FrameHeader::failed);
    if (is_error && upload(rest.first(frame_header_bytes)) != Status::ok) return {};
  }
  return device_.wait() == Status::ok ? ConstBytes(from, frames.size()) : ConstBytes();
}

Bytes DeviceFrames::incoming(Bytes room) noexcept {
  std::byte* const to = device_address(room.data());
  if (to == nullptr) return room;
  std::erase(with_headers_, room.data());
  device_.wait();  // enqueued work may still read what was there before; a later call reports the failure
  return {to, room.size()};
}

Status DeviceFrames::arrived(Bytes message) noexcept {
  if (std::erase(with_headers_, message.data()) > 0) return Status::ok;
  ConstBytes rest = message;
  while (rest.size() >= frame_header_bytes) {
    const Status status = download(rest.first(std::min(rest.size(), head_bytes)));
    if (status != Status::ok) return status;
    const std::size_t size = frame_size(rest);
    if (size == 0) break;
    rest = rest.subspan(size);
  }
  return Status::ok;
}

}  // namespace taut::gpu

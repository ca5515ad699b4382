#include "hostile_frame.hpp"

#include <cstring>

namespace taut::fuzz {
namespace {

// Offsets of the header's fields (docs/spec/frame.md).
enum Offset : std::size_t {
  at_version = 4,
  at_flags = 7,
  at_payload_bytes = 32,
  at_payload_checksum = 48,
  at_reserved = 57,
  at_checksum = 60
};

template <class T>
void put(std::byte* frame, Offset at, T value) noexcept {
  std::memcpy(frame + at, &value, sizeof value);
}

void repair(Bytes frame, std::uint8_t repairs) noexcept {
  std::byte* const to = frame.data();
  const ConstBytes payload = frame.subspan(frame_header_bytes);
  if (repairs & whole) put(to, at_payload_bytes, std::uint64_t{payload.size()});
  if (repairs & checksummed) {
    const bool present = (to[at_flags] & std::byte{FrameHeader::checksummed}) != std::byte{0};
    std::uint64_t size;
    std::memcpy(&size, to + at_payload_bytes, sizeof size);
    const ConstBytes covered =
        payload.first(static_cast<std::size_t>(std::min<std::uint64_t>(size, payload.size())));
    put(to, at_payload_checksum, present ? crc32c(covered) : 0);
  }
  if (repairs & seal) {
    std::memcpy(to, "TAUT", 4);
    put(to, at_version, frame_version);
    std::memset(to + at_reserved, 0, at_checksum - at_reserved);
    put(to, at_checksum, crc32c(frame.first(at_checksum)));
  }
}

}  // namespace

HostileFrame::HostileFrame(ConstBytes bytes, std::uint8_t repairs) : memory_(bytes.size()) {
  if (!bytes.empty()) std::memcpy(memory_.data(), bytes.data(), bytes.size());
  if (bytes.size() >= frame_header_bytes) repair(memory_.bytes(), repairs);
}

FrameHeader HostileFrame::header() const noexcept {
  FrameHeader header, none;
  return read_header(bytes(), header) == Status::ok ? header : none;
}

}  // namespace taut::fuzz

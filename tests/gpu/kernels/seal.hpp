// Restores the checksum of a damaged header. A wrong checksum would hide all other damage to the header.
#pragma once

#include <cstring>
#include <vector>

#include "compressor/frame/frame.hpp"

namespace taut {

inline void seal(std::vector<std::byte>& frame) {
  const std::uint32_t crc = crc32c(std::span(frame).first(60));
  std::memcpy(frame.data() + 60, &crc, 4);
}

}  // namespace taut

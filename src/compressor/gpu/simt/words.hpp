// A range of a frame's words in memory of the GPU.
#pragma once

#include "compressor/gpu/simt/simt.hpp"

namespace taut::cuda {

// Words of a record that may be read, from its first word on.
struct Words {
  const std::uint32_t* at = nullptr;
  std::uint32_t count = 0;

  TAUT_DEVICE std::uint32_t operator[](std::uint32_t i) const { return i < count ? at[i] : 0; }
  // Returns byte i, which must be in range.
  TAUT_DEVICE std::uint8_t byte(std::uint32_t i) const {
    return reinterpret_cast<const std::uint8_t*>(at)[i];
  }
  // Returns four bytes from any byte position on.
  TAUT_DEVICE std::uint32_t word(std::uint32_t byte) const {
    const std::uint64_t both = (*this)[byte / 4] | std::uint64_t{(*this)[byte / 4 + 1]} << 32;
    return static_cast<std::uint32_t>(both >> (8 * (byte % 4)));
  }
};

}  // namespace taut::cuda
